from typing import Any, ClassVar

from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import exceptions
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.api import ProjectAPIView
from apps.accounts.enums import Role, Scope
from apps.corpus.models import Snapshot
from apps.retrieval import actions, selectors
from apps.retrieval.imports import Draft
from apps.retrieval.reading import draft_of_rows, draft_of_text
from apps.retrieval.serializers import (
    PoolSerializer,
    PushAnswerSerializer,
    PushedRunSerializer,
    RunSerializer,
)

PAGE_SIZE = 100
MOST_BYTES = 64 * 1024**2
CURSOR = OpenApiParameter("before", int, description="Only what is older than this id; the answer's `next`.")


class PayloadTooLarge(exceptions.APIException):
    status_code = 413
    default_detail = "A pushed run is at most 64 MiB. Use the command line for a larger file."
    default_code = "payload_too_large"


class RunList(ProjectAPIView):
    """The runs of a project, newest first; push a run made elsewhere."""

    roles: ClassVar = {"GET": (Role.LEAD, Role.VIEWER), "POST": (Role.LEAD,)}
    scopes: ClassVar = {"GET": Scope.RUNS_READ, "POST": Scope.RUNS_WRITE}

    @extend_schema(operation_id="runs_list", parameters=[CURSOR], responses=RunSerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        return _page(request, selectors.runs_in(self.project), RunSerializer)

    @extend_schema(operation_id="runs_push", request=PushedRunSerializer, responses={201: PushAnswerSerializer})
    def post(self, request: Request, slug: str) -> Response:
        if int(request.META.get("CONTENT_LENGTH") or 0) > MOST_BYTES:
            raise PayloadTooLarge
        pushed = PushedRunSerializer(data=request.data)
        pushed.is_valid(raise_exception=True)
        values = pushed.validated_data
        snapshot = selectors.snapshot_named(self.project, values["snapshot"])
        if snapshot is None:
            raise exceptions.ValidationError({"snapshot": ["No snapshot, or more than one, is called that."]})
        draft = self._draft(values, snapshot)
        imported = actions.import_run(
            project=self.project,
            snapshot=snapshot,
            draft=draft,
            system=values["system"],
            tag=values["tag"],
            origin="pushed over the API",
            note=values["note"],
            commit=values["commit"],
            skip_unknown=values["skip_unknown"],
            actor=self.member.user,
            at=timezone.now(),
        )
        answer = {"run": imported.run, "is_new": imported.is_new, "skipped_rows": draft.skipped}
        return Response(PushAnswerSerializer(answer).data, status=201 if imported.is_new else 200)

    def _draft(self, values: dict[str, Any], snapshot: Snapshot) -> Draft:
        if values.get("trec"):
            return draft_of_text(values["trec"], project=self.project, snapshot=snapshot, name="trec")
        rows = ((row["query_id"], row["block_id"], row["score"]) for row in values["rows"])
        return draft_of_rows(rows, tag=values["tag"], project=self.project, snapshot=snapshot, name="rows")


class RunDetail(ProjectAPIView):
    """One run."""

    roles: ClassVar = {"GET": (Role.LEAD, Role.VIEWER)}
    scopes: ClassVar = {"GET": Scope.RUNS_READ}

    @extend_schema(operation_id="runs_read", responses=RunSerializer)
    def get(self, request: Request, slug: str, pk: int) -> Response:
        return Response(RunSerializer(selectors.run_in(self.project, pk)).data)


class PoolList(ProjectAPIView):
    """The pools of a project, newest first."""

    roles: ClassVar = {"GET": (Role.LEAD, Role.VIEWER)}
    scopes: ClassVar = {"GET": Scope.RUNS_READ}

    @extend_schema(operation_id="pools_list", parameters=[CURSOR], responses=PoolSerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        return _page(request, selectors.pools_in(self.project), PoolSerializer)


class PoolDetail(ProjectAPIView):
    """One pool."""

    roles: ClassVar = {"GET": (Role.LEAD, Role.VIEWER)}
    scopes: ClassVar = {"GET": Scope.RUNS_READ}

    @extend_schema(operation_id="pools_read", responses=PoolSerializer)
    def get(self, request: Request, slug: str, pk: int) -> Response:
        return Response(PoolSerializer(selectors.pool_in(self.project, pk)).data)


def _page(request: Request, rows: Any, serializer: Any) -> Response:
    """One page, newest first, and where the next begins: `{"results": [...], "next": id or null}`."""
    before = request.query_params.get("before", "")
    if before:
        if not before.isdecimal() or len(before) > 18:
            raise exceptions.ValidationError({"before": ["This is an id: a whole number."]})
        rows = rows.filter(pk__lt=int(before))
    page = list(rows[: PAGE_SIZE + 1])
    after = page[PAGE_SIZE - 1].pk if len(page) > PAGE_SIZE else None
    return Response({"results": serializer(page[:PAGE_SIZE], many=True).data, "next": after})
