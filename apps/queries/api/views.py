"""Queries in the API, and their sources."""

from typing import ClassVar

from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.edges.api import ProjectAPIView
from apps.accounts.enums import Role, Scope
from apps.common.web.paging import cut, only_known, whole
from apps.queries import actions, selectors
from apps.queries.enums import Difficulty
from apps.queries.serializers import (
    QueryPageSerializer,
    QuerySerializer,
    QuerySourceSerializer,
    QuerySourceSetSerializer,
)

FILTERS = ("state", "source", "difficulty", "domain", "query_type", "text")
PARAMETERS = [
    OpenApiParameter("state", str, enum=list(selectors.STATES), description="by default live"),
    OpenApiParameter("source", str, description="slug of a source, or ~ for queries without one"),
    OpenApiParameter("difficulty", str, enum=Difficulty.values),
    OpenApiParameter("domain", str),
    OpenApiParameter("query_type", str),
    OpenApiParameter("text", str, description="part of the words, the label or the id"),
    OpenApiParameter("after", str, description="`next` of the previous page"),
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
        filters = selectors.QueryFilters(**{name: params[name] for name in FILTERS if name in params})
        if filters.state not in selectors.STATES:
            raise ValidationError({"state": f"One of {', '.join(selectors.STATES)}."})
        if filters.difficulty and filters.difficulty not in Difficulty.values:
            raise ValidationError({"difficulty": f"One of {', '.join(Difficulty.values)}."})
        rows = selectors.narrowed(selectors.queries_in(self.project), filters).order_by("pk")
        page = cut(rows, params, column="pk", parse=whole, read=lambda row: row.pk)
        return Response({"results": QuerySerializer(page.rows, many=True).data, "next": page.next})


class QuerySource(ProjectAPIView):
    """The source of many queries."""

    roles: ClassVar = {"POST": (Role.LEAD,)}
    scopes: ClassVar = {"POST": Scope.CORPUS_WRITE}

    @extend_schema(operation_id="queries_set_source", request=QuerySourceSerializer, responses=QuerySourceSetSerializer)
    def post(self, request: Request, slug: str) -> Response:
        """Set the source of many queries, or of none of them when one is unknown. Retired ones do not change."""
        serializer = QuerySourceSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        named = serializer.validated_data["source"]
        source = selectors.sources_in(self.project).filter(slug=named).first() if named else None
        if named and source is None:
            raise ValidationError({"source": ["No source is called that."]})
        keys = selectors.keys_of(self.project, serializer.validated_data["query_ids"])
        if unknown := [name for name in serializer.validated_data["query_ids"] if name not in keys]:
            raise ValidationError({"query_ids": [f"{name} is no query of this project." for name in unknown[:20]]})
        changed = actions.set_source(
            project=self.project,
            query_ids=list(keys.values()),
            source=source,
            actor=self.member.user,
            at=timezone.now(),
        )
        return Response(QuerySourceSetSerializer({"changed": changed}).data)


class QueryDetail(ProjectAPIView):
    """One query."""

    roles: ClassVar = {"GET": ()}
    scopes: ClassVar = {"GET": Scope.CORPUS_READ}

    @extend_schema(responses=QuerySerializer)
    def get(self, request: Request, slug: str, pk: int) -> Response:
        return Response(QuerySerializer(selectors.query_in(self.project, pk)).data)
