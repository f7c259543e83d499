"""Queries in the API: lists and reads them, adds, edits and retires one."""

from typing import ClassVar

from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.edges.access import ProjectAPIView
from apps.accounts.enums import Role, Scope
from apps.common.web.paging import cut, only_known, whole
from apps.common.web.requests import change_in
from apps.queries import actions, selectors
from apps.queries.enums import Difficulty
from apps.queries.serializers import (
    BulkChangeInput,
    NewQueryInput,
    QueriesChangedSerializer,
    QueryInput,
    QueryPageSerializer,
    QuerySerializer,
    QuerySourceSerializer,
    RetireQueryInput,
    in_columns,
)


class BulkView(ProjectAPIView):
    """A change of many queries, or of none of them when one is unknown. Retired ones do not change."""

    roles: ClassVar = {"POST": (Role.LEAD,)}
    scopes: ClassVar = {"POST": Scope.CORPUS_WRITE}

    def keys(self, names: list[str]) -> list[int]:
        """The keys of the queries with these ids. Raises ValidationError when one is not of the project."""
        keys = selectors.keys_of(self.project, names)
        if unknown := [name for name in names if name not in keys]:
            raise ValidationError({"query_ids": [f"{name} is no query of this project." for name in unknown[:20]]})
        return list(keys.values())


class QuerySource(BulkView):
    """The source of many queries."""

    @extend_schema(operation_id="queries_set_source", request=QuerySourceSerializer, responses=QueriesChangedSerializer)
    def post(self, request: Request, slug: str) -> Response:
        """Set the source of many queries, or of none of them when one is unknown. Retired ones do not change."""
        serializer = QuerySourceSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        named = in_columns({"source": serializer.validated_data["source"]}, self.project)
        changed = actions.set_source(
            project=self.project,
            query_ids=self.keys(serializer.validated_data["query_ids"]),
            source=named["source"],
            actor=self.member.user,
            at=timezone.now(),
        )
        return Response(QueriesChangedSerializer({"changed": changed}).data)


class QueryChange(BulkView):
    """The strata, the group and the tags of many queries."""

    @extend_schema(operation_id="queries_change", request=BulkChangeInput, responses=QueriesChangedSerializer)
    def post(self, request: Request, slug: str) -> Response:
        """Change many queries alike, or none of them when one is unknown. Retired ones do not change."""
        body = change_in(request, BulkChangeInput)
        changed = actions.change_queries(
            project=self.project,
            query_ids=self.keys(body.validated_data["query_ids"]),
            change=body.change(self.project),
            actor=self.member.user,
            at=timezone.now(),
        )
        return Response(QueriesChangedSerializer({"changed": changed}).data)


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
    """The queries of the project in the order in which they were added; adds one."""

    roles: ClassVar = {"GET": (), "POST": (Role.LEAD,)}
    scopes: ClassVar = {"GET": Scope.CORPUS_READ, "POST": Scope.CORPUS_WRITE}

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

    @extend_schema(operation_id="queries_create", request=NewQueryInput, responses={201: QuerySerializer})
    def post(self, request: Request, slug: str) -> Response:
        body = NewQueryInput(data=request.data)
        body.is_valid(raise_exception=True)
        fields = in_columns(body.validated_data, self.project)
        query = actions.create_query(project=self.project, actor=self.member.user, at=timezone.now(), **fields)
        return Response(QuerySerializer(query).data, status=201)


class QueryDetail(ProjectAPIView):
    """One query."""

    roles: ClassVar = {"GET": ()}
    scopes: ClassVar = {"GET": Scope.CORPUS_READ}

    @extend_schema(responses=QuerySerializer)
    def get(self, request: Request, slug: str, pk: int) -> Response:
        return Response(QuerySerializer(selectors.query_in(self.project, pk)).data)


class QueryEdit(ProjectAPIView):
    """Changes fields of one query. Its words can be changed until its first run or grade."""

    roles: ClassVar = {"POST": (Role.LEAD,)}
    scopes: ClassVar = {"POST": Scope.CORPUS_WRITE}

    @extend_schema(operation_id="queries_edit", request=QueryInput, responses=QuerySerializer)
    def post(self, request: Request, slug: str, pk: int) -> Response:
        query = selectors.query_in(self.project, pk)
        changes = in_columns(change_in(request, QueryInput).validated_data, self.project)
        actions.edit_query(query_id=query.pk, actor=self.member.user, at=timezone.now(), **changes)
        return Response(QuerySerializer(selectors.query_in(self.project, pk)).data)


class QueryRetire(ProjectAPIView):
    """Retires a query: new runs, pools and versions leave it out; earlier ones keep it."""

    roles: ClassVar = {"POST": (Role.LEAD,)}
    scopes: ClassVar = {"POST": Scope.CORPUS_WRITE}

    @extend_schema(operation_id="queries_retire", request=RetireQueryInput, responses=QuerySerializer)
    def post(self, request: Request, slug: str, pk: int) -> Response:
        query = selectors.query_in(self.project, pk)
        body = RetireQueryInput(data=request.data)
        body.is_valid(raise_exception=True)
        reason = body.validated_data["reason"]
        actions.retire_query(query_id=query.pk, reason=reason, actor=self.member.user, at=timezone.now())
        return Response(QuerySerializer(selectors.query_in(self.project, pk)).data)
