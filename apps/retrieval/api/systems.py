"""Systems and loaded indexes in the API: creating, reading and running them."""

from typing import ClassVar

from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import exceptions
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.access.api import RunsAPIView
from apps.accounts.enums import Role
from apps.common.web.api import given_in
from apps.common.web.paging import only_known
from apps.retrieval.actions.runs import request_run
from apps.retrieval.actions.systems import create_fusion, create_system
from apps.retrieval.models import System
from apps.retrieval.selectors.question_sets import QueryChoice, question_sets
from apps.retrieval.selectors.systems import system_in, systems_in
from apps.retrieval.serializers.runs import snapshot_of_body
from apps.retrieval.serializers.systems import (
    FusionRequestSerializer,
    SystemRequestSerializer,
    SystemRunRequestSerializer,
    SystemRunSerializer,
    SystemSerializer,
)

KIND = OpenApiParameter("kind", str, description="Only systems of this kind.")


class SystemView(RunsAPIView):
    """The common part of the endpoints of systems."""

    def out(self, system: System, status: int = 200) -> Response:
        return Response(SystemSerializer(systems_in(self.project).get(pk=system.pk)).data, status=status)


class SystemList(SystemView):
    """The systems of a project, by name; create one that Karat runs itself."""

    roles: ClassVar = {"GET": (Role.LEAD, Role.VIEWER), "POST": (Role.LEAD,)}

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


class SystemDetail(SystemView):
    """One system."""

    roles: ClassVar = {"GET": (Role.LEAD, Role.VIEWER)}

    @extend_schema(operation_id="systems_read", responses=SystemSerializer)
    def get(self, request: Request, slug: str, pk: int) -> Response:
        return self.out(system_in(self.project, pk))


class SystemRuns(SystemView):
    """Queue a run of a system."""

    roles: ClassVar = {"POST": (Role.LEAD,)}

    @extend_schema(operation_id="systems_run", request=SystemRunRequestSerializer, responses={202: SystemRunSerializer})
    def post(self, request: Request, slug: str, pk: int) -> Response:
        system = system_in(self.project, pk)
        values = given_in(request.data, SystemRunRequestSerializer)
        snapshot = snapshot_of_body(self.project, values["snapshot"])
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
