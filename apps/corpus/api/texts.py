"""Corpora and their texts in the API, and redaction."""

from typing import ClassVar

from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.access.api import ProjectAPIView
from apps.accounts.enums import Role, Scope
from apps.common.web.paging import cut, cut_list, only_known, whole
from apps.corpus.actions import corpora
from apps.corpus.imports.api import PAGING
from apps.corpus.selectors.corpora import corpora_in, counted, version_in, versions_in
from apps.corpus.serializers import CorpusPageSerializer, RedactionSerializer, TextPageSerializer, TextSerializer

FILTERS = {"corpus": "block__corpus__slug", "block_id": "block__outside_id", "digest": "digest"}


class CorpusList(ProjectAPIView):
    """The corpora of the project by name."""

    roles: ClassVar = {"GET": ()}
    scopes: ClassVar = {"GET": Scope.CORPUS_READ}

    @extend_schema(operation_id="corpora_list", parameters=PAGING, responses=CorpusPageSerializer)
    def get(self, request: Request, slug: str) -> Response:
        only_known(request.query_params, {"after", "limit"})
        page = cut_list(counted(corpora_in(self.project)), request.query_params)
        return Response(CorpusPageSerializer({"results": page.rows, "next": page.next}).data)


class TextList(ProjectAPIView):
    """Every text that blocks have or had, in the order in which they came: also those of no snapshot."""

    roles: ClassVar = {"GET": ()}
    scopes: ClassVar = {"GET": Scope.CORPUS_READ}

    @extend_schema(
        operation_id="texts_list",
        parameters=[*PAGING, *(OpenApiParameter(name, str) for name in FILTERS)],
        responses=TextPageSerializer,
    )
    def get(self, request: Request, slug: str) -> Response:
        params = request.query_params
        only_known(params, {*FILTERS, "after", "limit"})
        asked = {field: params[name] for name, field in FILTERS.items() if name in params}
        rows = versions_in(self.project).filter(**asked).order_by("pk")
        page = cut(rows, params, column="pk", parse=whole, read=lambda row: row.pk)
        return Response(TextPageSerializer({"results": page.rows, "next": page.next}).data)


class TextRedact(ProjectAPIView):
    """Empty a text for good."""

    roles: ClassVar = {"POST": (Role.LEAD,)}
    scopes: ClassVar = {"POST": Scope.CORPUS_WRITE}

    @extend_schema(operation_id="texts_redact", request=RedactionSerializer, responses=TextSerializer)
    def post(self, request: Request, slug: str, pk: int) -> Response:
        version = version_in(self.project, pk)
        sent = RedactionSerializer(data=request.data)
        sent.is_valid(raise_exception=True)
        reason = sent.validated_data["reason"]
        redacted = corpora.redact_version(
            version_id=version.pk, reason=reason, actor=self.member.user, at=timezone.now()
        )
        return Response(TextSerializer(redacted).data)
