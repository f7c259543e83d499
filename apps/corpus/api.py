from typing import ClassVar

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.api import ProjectAPIView
from apps.accounts.enums import Scope
from apps.common.paging import cut, only_known, whole
from apps.corpus import selectors
from apps.corpus.search import search_blocks
from apps.corpus.serializers import (
    BlockPageSerializer,
    BlockSerializer,
    SnapshotPageSerializer,
    SnapshotSerializer,
)

PAGING = [
    OpenApiParameter("after", str, description="`next` of the page before"),
    OpenApiParameter("limit", int, description="rows of a page, 1 to 1,000, by default 100"),
]
FIND = OpenApiParameter("find", str, description="only the blocks that fit these words best, best first, at most 100")
FOUND = 100


class SnapshotList(ProjectAPIView):
    """The frozen snapshots of the project, oldest first."""

    roles: ClassVar = {"GET": ()}
    scopes: ClassVar = {"GET": Scope.CORPUS_READ}

    @extend_schema(operation_id="snapshots_list", parameters=PAGING, responses=SnapshotPageSerializer)
    def get(self, request: Request, slug: str) -> Response:
        only_known(request.query_params, {"after", "limit"})
        rows = selectors.snapshots_in(self.project).order_by("pk")
        page = cut(rows, request.query_params, column="pk", parse=whole, read=lambda row: row.pk)
        return Response({"results": SnapshotSerializer(page.rows, many=True).data, "next": page.next})


class SnapshotDetail(ProjectAPIView):
    """One snapshot."""

    roles: ClassVar = {"GET": ()}
    scopes: ClassVar = {"GET": Scope.CORPUS_READ}

    @extend_schema(responses=SnapshotSerializer)
    def get(self, request: Request, slug: str, pk: int) -> Response:
        return Response(SnapshotSerializer(selectors.snapshot_in(self.project, pk)).data)


class BlockList(ProjectAPIView):
    """The blocks of a snapshot in the order of their ids, or those that fit some words."""

    roles: ClassVar = {"GET": ()}
    scopes: ClassVar = {"GET": Scope.CORPUS_READ}

    @extend_schema(parameters=[*PAGING, FIND], responses=BlockPageSerializer)
    def get(self, request: Request, slug: str, pk: int) -> Response:
        only_known(request.query_params, {"after", "limit", "find"})
        snapshot = selectors.snapshot_in(self.project, pk)
        if words := request.query_params.get("find", ""):
            found = search_blocks(snapshot, words[:1_000], limit=FOUND)
            return Response({"results": BlockSerializer(found, many=True).data, "next": None})
        rows = selectors.entries_of(snapshot)
        page = cut(rows, request.query_params, column="position", parse=whole, read=lambda row: row.position)
        return Response({"results": BlockSerializer(page.rows, many=True).data, "next": page.next})
