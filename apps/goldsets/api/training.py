"""Training manifests in the API: what drafts are checked against, what of a version they have, and their imports."""

from typing import Any, ClassVar

from django.http import Http404
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.access.api import VersionsAPIView
from apps.accounts.enums import Role, Scope
from apps.common.web.api import PAGING, in_their_order, next_page, page_of
from apps.common.web.forms import ChoiceField
from apps.common.web.paging import cut_list, only_known
from apps.corpus.imports.api import import_urls
from apps.goldsets.access import open_test
from apps.goldsets.actions.training import retire_training_manifest
from apps.goldsets.enums import KnownBy, Split
from apps.goldsets.imports import TrainingImport
from apps.goldsets.models import TrainingManifest
from apps.goldsets.selectors import versions
from apps.goldsets.selectors.training import FoundItem, manifest_in, manifests_of, training_leaks

LOOKED_AT = "items known from training"


class ManifestOut(serializers.Serializer[TrainingManifest]):
    """A list of what a system was trained on; `counts` has its entries by kind. Retired, no draft is checked by it."""

    id = serializers.IntegerField(source="pk")
    name = serializers.CharField()
    file = serializers.CharField()
    digest = serializers.CharField(help_text="Over all entries, whatever file they came in.")
    counts = serializers.DictField(child=serializers.IntegerField())
    added_by = serializers.CharField(source="added_by.name")
    added_at = serializers.DateTimeField()
    retired_by = serializers.CharField(source="retired_by.name", default=None, allow_null=True)
    retired_at = serializers.DateTimeField(allow_null=True)


class KnownInOut(serializers.Serializer[Any]):
    """A manifest that has the item, and by what."""

    manifest = serializers.CharField()
    by = ChoiceField(choices=KnownBy.choices)


class KnownItemOut(serializers.Serializer[FoundItem]):
    """A query by its id, or a Q&A by its label, that is in a manifest in use."""

    name = serializers.CharField()
    kind = serializers.CharField(help_text="query or triple")
    split = ChoiceField(choices=Split.choices)
    known_in = KnownInOut(source="matches", many=True)


class KnownItemPage(serializers.Serializer[Any]):
    """`sentence` is for whoever reads scores on test; empty where no item of test is concerned."""

    sentence = serializers.CharField()
    in_test = serializers.IntegerField()
    in_dev = serializers.IntegerField()
    results = KnownItemOut(many=True)
    next = next_page()


class ManifestList(VersionsAPIView):
    """Every training manifest of the project, those in use first, then newest first."""

    roles: ClassVar = {"GET": (Role.LEAD,)}

    @extend_schema(operation_id="training_list", parameters=PAGING, responses=page_of("ManifestPage", ManifestOut))
    def get(self, request: Request, slug: str) -> Response:
        return in_their_order(request, manifests_of(self.project), ManifestOut)


class ManifestRetire(VersionsAPIView):
    """Retires a manifest: it is kept, and no draft is checked against it any more."""

    roles: ClassVar = {"POST": (Role.LEAD,)}

    @extend_schema(operation_id="training_retire", request=None, responses=ManifestOut)
    def post(self, request: Request, slug: str, pk: int) -> Response:
        manifest = manifest_in(self.project, pk)
        retire_training_manifest(manifest_id=manifest.pk, actor=self.member.user, at=timezone.now())
        return Response(ManifestOut(manifest_in(self.project, pk)).data)


class KnownItems(VersionsAPIView):
    """The items of a frozen version that are in a manifest in use, those of test first.

    Where any is of test it is a look at test, which is logged.
    """

    roles: ClassVar = {"GET": (Role.LEAD,)}

    @extend_schema(operation_id="training_known", parameters=PAGING, responses=KnownItemPage)
    def get(self, request: Request, slug: str, gold_set: str, number: int) -> Response:
        version = versions.version_in(self.project, gold_set, number)
        if version.is_draft:
            raise Http404("A draft names them among what stands against freezing it.")
        only_known(request.query_params, {"after", "limit"})
        found = training_leaks(version, is_blind=False)
        page = cut_list(found.items, request.query_params)
        if any(item.split == Split.TEST for item in page.rows):
            open_test(version, self.member, LOOKED_AT)
        facts = {"sentence": found.sentence, "in_test": len(found.in_test), "in_dev": len(found.in_dev)}
        return Response(KnownItemPage({**facts, "results": page.rows, "next": page.next}).data)


IMPORT_URLS = import_urls(
    TrainingImport,
    noun="training",
    reads=Scope.VERSIONS_READ,
    writes=Scope.VERSIONS_WRITE,
)
