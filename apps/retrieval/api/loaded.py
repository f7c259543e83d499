"""The API of loaded indexes: loading a snapshot into a search server, searching it there, and dropping it."""

from typing import Any, ClassVar

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import exceptions
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.enums import Role, Scope
from apps.retrieval.actions.loading import create_loaded_system, drop_index, load_snapshot
from apps.retrieval.api.systems import SystemView
from apps.retrieval.models import LoadedIndex
from apps.retrieval.selectors.snapshots import snapshot_named
from apps.retrieval.selectors.systems import loaded_in, loaded_index_in
from apps.retrieval.serializers.systems import (
    LoadedIndexSerializer,
    LoadedSystemRequestSerializer,
    LoadRequestSerializer,
    SystemSerializer,
)


class LoadedView(SystemView):
    """The common part of the endpoints of loaded indexes."""

    def index_out(self, index: LoadedIndex, status: int = 200) -> Response:
        return Response(LoadedIndexSerializer(loaded_index_in(self.project, index.pk)).data, status=status)


class LoadedList(LoadedView):
    """The loaded indexes of a project, newest first; load a snapshot into OpenSearch or Elasticsearch."""

    roles: ClassVar = {"GET": (Role.LEAD,), "POST": (Role.LEAD,)}
    scopes: ClassVar = {"GET": Scope.RUNS_READ, "POST": Scope.RUNS_WRITE}

    @extend_schema(operation_id="loaded_indexes_list", responses=LoadedIndexSerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        return Response(LoadedIndexSerializer(loaded_in(self.project), many=True).data)

    @extend_schema(
        operation_id="loaded_indexes_load", request=LoadRequestSerializer, responses={202: LoadedIndexSerializer}
    )
    def post(self, request: Request, slug: str) -> Response:
        values: dict[str, Any] = self.validated(LoadRequestSerializer, request)
        snapshot = snapshot_named(self.project, values["snapshot"])
        if snapshot is None:
            raise exceptions.ValidationError({"snapshot": ["No snapshot, or more than one, is called that."]})
        index = load_snapshot(
            project=self.project,
            snapshot_id=snapshot.pk,
            url=values["url"],
            auth=values.get("auth"),
            dense_id=values["vectors"],
            actor=self.member.user,
            at=timezone.now(),
        )
        return self.index_out(index, 202)


class LoadedDetail(LoadedView):
    """One loaded index, with the job that loads or drops it."""

    roles: ClassVar = {"GET": (Role.LEAD,)}
    scopes: ClassVar = {"GET": Scope.RUNS_READ}

    @extend_schema(operation_id="loaded_indexes_read", responses=LoadedIndexSerializer)
    def get(self, request: Request, slug: str, pk: int) -> Response:
        return self.index_out(loaded_index_in(self.project, pk))


class LoadedDrop(LoadedView):
    """Drop a loaded index from its server, by its exact name. Its systems and their runs stay."""

    roles: ClassVar = {"POST": (Role.LEAD,)}
    scopes: ClassVar = {"POST": Scope.RUNS_WRITE}

    @extend_schema(operation_id="loaded_indexes_drop", request=None, responses={202: LoadedIndexSerializer})
    def post(self, request: Request, slug: str, pk: int) -> Response:
        index = loaded_index_in(self.project, pk)
        return self.index_out(drop_index(index=index, actor=self.member.user, at=timezone.now()), 202)


class LoadedSystems(LoadedView):
    """Create a system that searches a loaded index by BM25, kNN or both."""

    roles: ClassVar = {"POST": (Role.LEAD,)}
    scopes: ClassVar = {"POST": Scope.RUNS_WRITE}

    @extend_schema(
        operation_id="loaded_indexes_create_system",
        request=LoadedSystemRequestSerializer,
        responses={201: SystemSerializer},
    )
    def post(self, request: Request, slug: str, pk: int) -> Response:
        index = loaded_index_in(self.project, pk)
        values = self.validated(LoadedSystemRequestSerializer, request)
        system = create_loaded_system(
            project=self.project, index_id=index.pk, actor=self.member.user, at=timezone.now(), **values
        )
        return self.out(system, 201)
