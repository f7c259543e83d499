"""Systems and loaded indexes in the API: creating, reading and running them."""

from typing import ClassVar

from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import exceptions
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.access.api import ProjectAPIView
from apps.accounts.enums import Role, Scope
from apps.common.web.api import given_in
from apps.common.web.paging import only_known
from apps.retrieval.actions.loading import create_loaded_system, drop_index, load_snapshot
from apps.retrieval.actions.runs import request_run
from apps.retrieval.actions.systems import change_pace, create_fusion, create_remote_system, create_system
from apps.retrieval.models import LoadedIndex, System
from apps.retrieval.selectors.question_sets import QueryChoice, question_sets
from apps.retrieval.selectors.snapshots import snapshot_named
from apps.retrieval.selectors.systems import loaded_in, loaded_index_in, system_in, systems_in
from apps.retrieval.serializers.systems import (
    FusionRequestSerializer,
    LoadedIndexSerializer,
    LoadedSystemRequestSerializer,
    LoadRequestSerializer,
    PaceSerializer,
    RemoteRequestSerializer,
    SystemRequestSerializer,
    SystemRunRequestSerializer,
    SystemRunSerializer,
    SystemSerializer,
)

KIND = OpenApiParameter("kind", str, description="Only systems of this kind.")


class SystemView(ProjectAPIView):
    """The common part of the endpoints of systems."""

    def out(self, system: System, status: int = 200) -> Response:
        return Response(SystemSerializer(systems_in(self.project).get(pk=system.pk)).data, status=status)


class SystemList(SystemView):
    """The systems of a project, by name; create one that Karat runs itself."""

    roles: ClassVar = {"GET": (Role.LEAD, Role.VIEWER), "POST": (Role.LEAD,)}
    scopes: ClassVar = {"GET": Scope.RUNS_READ, "POST": Scope.RUNS_WRITE}

    @extend_schema(operation_id="systems_list", parameters=[KIND], responses=SystemSerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        only_known(request.query_params, {"kind"})
        systems = systems_in(self.project)
        if kind := request.query_params.get("kind"):
            systems = systems.filter(kind=kind)
        return Response(SystemSerializer(systems, many=True).data)

    @extend_schema(operation_id="systems_create", request=SystemRequestSerializer, responses={201: SystemSerializer})
    def post(self, request: Request, slug: str) -> Response:
        values = given_in(request.data, SystemRequestSerializer)
        system = create_system(project=self.project, actor=self.member.user, at=timezone.now(), **values)
        return self.out(system, 201)


class FusionList(SystemView):
    """Create a system that fuses the rankings of others."""

    roles: ClassVar = {"POST": (Role.LEAD,)}
    scopes: ClassVar = {"POST": Scope.RUNS_WRITE}

    @extend_schema(
        operation_id="systems_create_fusion", request=FusionRequestSerializer, responses={201: SystemSerializer}
    )
    def post(self, request: Request, slug: str) -> Response:
        values = given_in(request.data, FusionRequestSerializer)
        system = create_fusion(
            project=self.project,
            name=values["name"],
            system_ids=values["systems"],
            k=values["k"],
            actor=self.member.user,
            at=timezone.now(),
        )
        return self.out(system, 201)


class RemoteList(SystemView):
    """Create a system elsewhere. No request is sent to it before its first run."""

    roles: ClassVar = {"POST": (Role.LEAD,)}
    scopes: ClassVar = {"POST": Scope.RUNS_WRITE}

    @extend_schema(
        operation_id="systems_create_remote", request=RemoteRequestSerializer, responses={201: SystemSerializer}
    )
    def post(self, request: Request, slug: str) -> Response:
        values = given_in(request.data, RemoteRequestSerializer)
        system = create_remote_system(project=self.project, actor=self.member.user, at=timezone.now(), **values)
        return self.out(system, 201)


class SystemDetail(SystemView):
    """One system."""

    roles: ClassVar = {"GET": (Role.LEAD, Role.VIEWER)}
    scopes: ClassVar = {"GET": Scope.RUNS_READ}

    @extend_schema(operation_id="systems_read", responses=SystemSerializer)
    def get(self, request: Request, slug: str, pk: int) -> Response:
        return self.out(system_in(self.project, pk))


class SystemPace(SystemView):
    """Change the request limits of a system elsewhere, from its next run on. It stays the same system."""

    roles: ClassVar = {"POST": (Role.LEAD,)}
    scopes: ClassVar = {"POST": Scope.RUNS_WRITE}

    @extend_schema(operation_id="systems_pace", request=PaceSerializer, responses=SystemSerializer)
    def post(self, request: Request, slug: str, pk: int) -> Response:
        system = system_in(self.project, pk)
        values = given_in(request.data, PaceSerializer)
        return self.out(change_pace(system=system, pace=values, actor=self.member.user, at=timezone.now()))


class SystemRuns(SystemView):
    """Queue a run of a system."""

    roles: ClassVar = {"POST": (Role.LEAD,)}
    scopes: ClassVar = {"POST": Scope.RUNS_WRITE}

    @extend_schema(operation_id="systems_run", request=SystemRunRequestSerializer, responses={202: SystemRunSerializer})
    def post(self, request: Request, slug: str, pk: int) -> Response:
        system = system_in(self.project, pk)
        values = given_in(request.data, SystemRunRequestSerializer)
        snapshot = snapshot_named(self.project, values["snapshot"])
        if snapshot is None:
            raise exceptions.ValidationError({"snapshot": ["No snapshot, or more than one, is called that."]})
        choice = QueryChoice(
            source_id=values["source"],
            domain=values["domain"],
            difficulty=values["difficulty"],
            query_type=values["query_type"],
            questions=self._questions(values["questions"]),
        )
        run = request_run(
            project=self.project,
            system_id=system.pk,
            snapshot_id=snapshot.pk,
            choice=choice,
            depth=values["depth"],
            tag=values["tag"],
            note=values["note"],
            commit=values["commit"],
            actor=self.member.user,
            at=timezone.now(),
        )
        return Response(SystemRunSerializer({"run": run, "job": run.job}).data, status=202)

    def _questions(self, key: str) -> str:
        known = [one.key for one in question_sets(self.project)] if key else []
        if key and key not in known:
            there = ", ".join(known[:20]) or "none yet"
            raise exceptions.ValidationError({"questions": [f"No questions are called {key}; there are: {there}."]})
        return key


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
        values = given_in(request.data, LoadRequestSerializer)
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
        values = given_in(request.data, LoadedSystemRequestSerializer)
        system = create_loaded_system(
            project=self.project, index_id=index.pk, actor=self.member.user, at=timezone.now(), **values
        )
        return self.out(system, 201)
