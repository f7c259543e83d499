"""Changes of many queries at once in the API."""

from typing import ClassVar

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.edges.access import ProjectAPIView
from apps.accounts.enums import Role, Scope
from apps.common.web.requests import change_in
from apps.queries import actions, selectors
from apps.queries.serializers import (
    BulkChangeInput,
    QueriesChangedSerializer,
    QuerySourceSerializer,
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
