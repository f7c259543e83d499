"""Corpora, snapshots and texts in the API; freezing and redacting."""

from typing import ClassVar

from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.access.api import CorpusAPIView
from apps.accounts.enums import Role
from apps.common.web.api import PAGING, given_in, in_their_order, oldest_first, page_of
from apps.common.web.paging import cut, only_known
from apps.corpus.actions import corpora
from apps.corpus.selectors.corpora import (
    corpora_in,
    counted,
    entries_of,
    freeze_in,
    snapshot_in,
    snapshots_in,
    version_in,
    versions_in,
)
from apps.corpus.selectors.search import search_blocks
from apps.corpus.serializers import (
    BlockSerializer,
    CorpusSerializer,
    FreezeSerializer,
    FrozenSerializer,
    RedactionSerializer,
    SnapshotSerializer,
    TextSerializer,
)

FIND = OpenApiParameter("find", str, description="only the blocks that match these words best, best first, at most 100")
MOST_FOUND = 100


class SnapshotList(CorpusAPIView):
    """The frozen snapshots of the project, oldest first. Leads freeze another one here."""

    roles: ClassVar = {"GET": (), "POST": (Role.LEAD,)}

    @extend_schema(
        operation_id="snapshots_list", parameters=PAGING, responses=page_of("SnapshotPage", SnapshotSerializer)
    )
    def get(self, request: Request, slug: str) -> Response:
        return oldest_first(request, snapshots_in(self.project), SnapshotSerializer)

    @extend_schema(
        operation_id="snapshots_freeze",
        request=FreezeSerializer,
        responses={201: FrozenSerializer, 202: FrozenSerializer},
    )
    def post(self, request: Request, slug: str) -> Response:
        """Freeze a corpus as it is now; for a large one, returns 202 and the job that does it."""
        given = given_in(request.data, FreezeSerializer)
        corpus = corpora_in(self.project).filter(slug=given["corpus"]).first()
        if corpus is None:
            raise ValidationError({"corpus": ["No corpus is called that."]})
        requested = corpora.request_freeze(
            corpus_id=corpus.pk, actor=self.member.user, at=timezone.now(), name=given["name"]
        )
        return Response(FrozenSerializer(requested).data, status=202 if requested.snapshot is None else 201)


class FreezeDetail(CorpusAPIView):
    """A freeze that a job does, and its result."""

    roles: ClassVar = {"GET": ()}

    @extend_schema(operation_id="snapshots_freeze_read", responses=FrozenSerializer)
    def get(self, request: Request, slug: str, pk: int) -> Response:
        job = freeze_in(self.project, pk)
        snapshot_id = (job.result or {}).get("snapshot_id")
        snapshot = snapshot_in(self.project, snapshot_id) if snapshot_id else None
        return Response(FrozenSerializer({"snapshot": snapshot, "job": job}).data)


class SnapshotDetail(CorpusAPIView):
    """One snapshot."""

    roles: ClassVar = {"GET": ()}

    @extend_schema(responses=SnapshotSerializer)
    def get(self, request: Request, slug: str, pk: int) -> Response:
        return Response(SnapshotSerializer(snapshot_in(self.project, pk)).data)


class BlockList(CorpusAPIView):
    """The blocks of a snapshot in the order of their ids, or those that match some words."""

    roles: ClassVar = {"GET": ()}

    @extend_schema(parameters=[*PAGING, FIND], responses=page_of("BlockPage", BlockSerializer))
    def get(self, request: Request, slug: str, pk: int) -> Response:
        only_known(request.query_params, {"after", "limit", "find"})
        snapshot = snapshot_in(self.project, pk)
        if words := request.query_params.get("find", ""):
            matches = search_blocks(snapshot, words[:1_000], limit=MOST_FOUND)
            return Response({"results": BlockSerializer(matches, many=True).data, "next": None})
        page = cut(entries_of(snapshot), request.query_params, "position")
        return Response({"results": BlockSerializer(page.rows, many=True).data, "next": page.next})


FILTERS = {"corpus": "block__corpus__slug", "block_id": "block__outside_id", "digest": "digest"}


class CorpusList(CorpusAPIView):
    """The corpora of the project by name."""

    roles: ClassVar = {"GET": ()}

    @extend_schema(operation_id="corpora_list", parameters=PAGING, responses=page_of("CorpusPage", CorpusSerializer))
    def get(self, request: Request, slug: str) -> Response:
        return in_their_order(request, counted(corpora_in(self.project)), CorpusSerializer)


class TextList(CorpusAPIView):
    """Every text that blocks have or had, in the order in which they came: also those of no snapshot."""

    roles: ClassVar = {"GET": ()}

    @extend_schema(
        operation_id="texts_list",
        parameters=[*PAGING, *(OpenApiParameter(name, str) for name in FILTERS)],
        responses=page_of("TextPage", TextSerializer),
    )
    def get(self, request: Request, slug: str) -> Response:
        params = request.query_params
        asked = {field: params[name] for name, field in FILTERS.items() if name in params}
        return oldest_first(request, versions_in(self.project).filter(**asked), TextSerializer, *FILTERS)


class TextRedact(CorpusAPIView):
    """Empty a text for good."""

    roles: ClassVar = {"POST": (Role.LEAD,)}

    @extend_schema(operation_id="texts_redact", request=RedactionSerializer, responses=TextSerializer)
    def post(self, request: Request, slug: str, pk: int) -> Response:
        version = version_in(self.project, pk)
        reason = given_in(request.data, RedactionSerializer)["reason"]
        redacted = corpora.redact_version(
            version_id=version.pk, reason=reason, actor=self.member.user, at=timezone.now()
        )
        return Response(TextSerializer(redacted).data)
