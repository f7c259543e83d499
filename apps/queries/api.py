from typing import ClassVar

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.api import ProjectAPIView
from apps.accounts.enums import Scope
from apps.common.paging import cut, only_known, whole
from apps.queries import selectors
from apps.queries.enums import Difficulty
from apps.queries.serializers import QueryPageSerializer, QuerySerializer

FILTERS = ("state", "source", "difficulty", "domain", "query_type", "text")
PARAMETERS = [
    OpenApiParameter("state", str, enum=list(selectors.STATES), description="by default live"),
    OpenApiParameter("source", str, description="slug of a source"),
    OpenApiParameter("difficulty", str, enum=Difficulty.values),
    OpenApiParameter("domain", str),
    OpenApiParameter("query_type", str),
    OpenApiParameter("text", str, description="part of the words, the label or the id"),
    OpenApiParameter("after", str, description="`next` of the page before"),
    OpenApiParameter("limit", int, description="rows of a page, 1 to 1,000, by default 100"),
]


class QueryList(ProjectAPIView):
    """The queries of the project in the order in which they were added."""

    roles: ClassVar = {"GET": ()}
    scopes: ClassVar = {"GET": Scope.CORPUS_READ}

    @extend_schema(operation_id="queries_list", parameters=PARAMETERS, responses=QueryPageSerializer)
    def get(self, request: Request, slug: str) -> Response:
        params = request.query_params
        only_known(params, {*FILTERS, "after", "limit"})
        filters = selectors.Filters(**{name: params[name] for name in FILTERS if name in params})
        if filters.state not in selectors.STATES:
            raise ValidationError({"state": f"One of {', '.join(selectors.STATES)}."})
        if filters.difficulty and filters.difficulty not in Difficulty.values:
            raise ValidationError({"difficulty": f"One of {', '.join(Difficulty.values)}."})
        rows = selectors.narrowed(selectors.queries_in(self.project), filters).order_by("pk")
        page = cut(rows, params, column="pk", parse=whole, read=lambda row: row.pk)
        return Response({"results": QuerySerializer(page.rows, many=True).data, "next": page.next})


class QueryDetail(ProjectAPIView):
    """One query."""

    roles: ClassVar = {"GET": ()}
    scopes: ClassVar = {"GET": Scope.CORPUS_READ}

    @extend_schema(responses=QuerySerializer)
    def get(self, request: Request, slug: str, pk: int) -> Response:
        return Response(QuerySerializer(selectors.query_in(self.project, pk)).data)
