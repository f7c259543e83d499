"""Systems and loaded indexes in the API: creating, reading and running them."""

from typing import Any, ClassVar

from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, PolymorphicProxySerializer, extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.access.api import RunsAPIView
from apps.accounts.enums import Role
from apps.common.web.api import given_in
from apps.common.web.forms import ChoiceField, body_fields
from apps.common.web.paging import only_known
from apps.retrieval.actions.runs import request_run
from apps.retrieval.actions.systems import (
    change_pace,
    create_fusion,
    create_loaded_system,
    create_remote_system,
    create_system,
    drop_index,
    load_snapshot,
)
from apps.retrieval.core.engines.remote.base import MOST_HEADERS
from apps.retrieval.core.engines.remote.own_passages import OwnPaths
from apps.retrieval.enums import SystemKind
from apps.retrieval.forms.remote import HttpForm, OpenSearchForm, PaceForm, RemoteForm
from apps.retrieval.models import LoadedIndex, System
from apps.retrieval.selectors.question_sets import FILTERED, QueryChoice
from apps.retrieval.selectors.systems import loaded_in, loaded_index_in, system_in, systems_in
from apps.retrieval.serializers.runs import questions_of_body, snapshot_of_body
from apps.retrieval.serializers.systems import (
    LONGEST_NAME,
    FusionRequestSerializer,
    KnownFieldsSerializer,
    LoadedIndexSerializer,
    LoadedSystemRequestSerializer,
    LoadRequestSerializer,
    RemoteAuthSerializer,
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
            **{name: values[name] for name in FILTERED},
            questions=questions_of_body(self.project, values["questions"]),
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
            as_role=values["as_role"],
            abstains_below=values["abstains_below"],
            actor=self.member.user,
            at=timezone.now(),
        )
        return Response(SystemRunSerializer({"run": run, "job": run.job}).data, status=202)


class ParametersSerializer(KnownFieldsSerializer):
    """The parameters of one kind, as its form states them."""

    form: ClassVar[type[RemoteForm]]
    auth = RemoteAuthSerializer(required=False)

    def get_fields(self) -> dict[str, serializers.Field]:
        return body_fields(self.form, only=self.form.PARAMETERS) | super().get_fields()


class HttpParametersSerializer(ParametersSerializer):
    """An endpoint that answers with JSON.

    `ids` is needed, unless it returns passages of its own: with any of `documents`, `texts` and `first_pages`, paths
    like that of the ids, it does.
    """

    form = HttpForm
    headers = serializers.DictField(child=serializers.CharField(max_length=1_000, allow_blank=True), required=False)

    def validate_headers(self, value: dict[str, str]) -> dict[str, str]:
        if len(value) > MOST_HEADERS:
            raise serializers.ValidationError(f"At most {MOST_HEADERS} headers.")
        return value


class OpenSearchParametersSerializer(ParametersSerializer):
    """The `_search` endpoint of a cluster.

    With any of `documents`, `texts` and `first_pages`, fields written `_source.name`, it returns passages of its own.
    `ids` is then empty unless it is given, else `_id`.
    """

    form = OpenSearchForm
    fields = serializers.ListField(  # type: ignore[assignment]  # the setting's own name
        child=serializers.CharField(max_length=200), max_length=100, required=False
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        has_own = any(attrs.get(name) for name in OwnPaths._fields)
        return {"ids": "" if has_own else "_id", **attrs}


class PaceSerializer(KnownFieldsSerializer):
    """The request limits of a system elsewhere. Missing ones stay as they are; for a new system, they have defaults."""

    def get_fields(self) -> dict[str, serializers.Field]:
        return body_fields(PaceForm)


REMOTE_PARAMETERS: dict[str, type[KnownFieldsSerializer]] = {
    SystemKind.HTTP.value: HttpParametersSerializer,
    SystemKind.OPENSEARCH.value: OpenSearchParametersSerializer,
}


@extend_schema_field(
    PolymorphicProxySerializer(
        component_name="RemoteParameters",
        serializers=list(REMOTE_PARAMETERS.values()),
        resource_type_field_name=None,
    )
)
class RemoteParametersField(serializers.DictField):
    """An object whose fields depend on the kind."""


class RemoteRequestSerializer(KnownFieldsSerializer):
    """A system elsewhere: its address, the request, and the request limits."""

    name = serializers.CharField(max_length=LONGEST_NAME)
    kind = ChoiceField(choices=list(REMOTE_PARAMETERS))
    parameters = RemoteParametersField()
    pace = PaceSerializer(required=False)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        parameters = REMOTE_PARAMETERS[attrs["kind"]](data=attrs["parameters"])
        if not parameters.is_valid():
            raise serializers.ValidationError({"parameters": parameters.errors})
        return {**attrs, "parameters": parameters.validated_data}


class RemoteList(SystemView):
    """Create a system elsewhere. No request is sent to it before its first run."""

    roles: ClassVar = {"POST": (Role.LEAD,)}

    @extend_schema(
        operation_id="systems_create_remote", request=RemoteRequestSerializer, responses={201: SystemSerializer}
    )
    def post(self, request: Request, slug: str) -> Response:
        values = given_in(request.data, RemoteRequestSerializer)
        system = create_remote_system(project=self.project, actor=self.member.user, at=timezone.now(), **values)
        return self.out(system, 201)


class SystemPace(SystemView):
    """Change the request limits of a system elsewhere, from its next run on. It stays the same system."""

    roles: ClassVar = {"POST": (Role.LEAD,)}

    @extend_schema(operation_id="systems_pace", request=PaceSerializer, responses=SystemSerializer)
    def post(self, request: Request, slug: str, pk: int) -> Response:
        system = system_in(self.project, pk)
        values = given_in(request.data, PaceSerializer)
        return self.out(change_pace(system=system, pace=values, actor=self.member.user, at=timezone.now()))


class LoadedView(SystemView):
    """The common part of the endpoints of loaded indexes."""

    def index_out(self, index: LoadedIndex, status: int = 200) -> Response:
        return Response(LoadedIndexSerializer(loaded_index_in(self.project, index.pk)).data, status=status)


class LoadedList(LoadedView):
    """The loaded indexes of a project, newest first; load a snapshot into OpenSearch or Elasticsearch."""

    roles: ClassVar = {"GET": (Role.LEAD,), "POST": (Role.LEAD,)}

    @extend_schema(operation_id="loaded_indexes_list", responses=LoadedIndexSerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        return Response(LoadedIndexSerializer(loaded_in(self.project), many=True).data)

    @extend_schema(
        operation_id="loaded_indexes_load", request=LoadRequestSerializer, responses={202: LoadedIndexSerializer}
    )
    def post(self, request: Request, slug: str) -> Response:
        values = given_in(request.data, LoadRequestSerializer)
        snapshot = snapshot_of_body(self.project, values["snapshot"])
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

    @extend_schema(operation_id="loaded_indexes_read", responses=LoadedIndexSerializer)
    def get(self, request: Request, slug: str, pk: int) -> Response:
        return self.index_out(loaded_index_in(self.project, pk))


class LoadedDrop(LoadedView):
    """Drop a loaded index from its server, by its exact name. Its systems and their runs stay."""

    roles: ClassVar = {"POST": (Role.LEAD,)}

    @extend_schema(operation_id="loaded_indexes_drop", request=None, responses={202: LoadedIndexSerializer})
    def post(self, request: Request, slug: str, pk: int) -> Response:
        index = loaded_index_in(self.project, pk)
        return self.index_out(drop_index(index=index, actor=self.member.user, at=timezone.now()), 202)


class LoadedSystems(LoadedView):
    """Create a system that searches a loaded index by BM25, kNN or both."""

    roles: ClassVar = {"POST": (Role.LEAD,)}

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
