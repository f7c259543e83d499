"""Gates and files of gates in the API."""

from typing import Any, ClassVar

from django.http import HttpResponse
from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.access.api import RunsAPIView
from apps.accounts.enums import Role
from apps.common.web.api import OneForm, given_in
from apps.common.web.forms import ChoiceField, KeyField
from apps.evaluation.rules import SPLITS
from apps.gates import actions, formats
from apps.gates import selectors as gates
from apps.gates.core.decisions import GAPS
from apps.gates.core.rule import as_facts
from apps.gates.enums import GateState, Tier
from apps.gates.models import GateResult
from apps.gates.presenters import file_response, planned_in
from apps.gates.selectors import GateStatus, badge_of, next_step
from apps.goldsets.enums import Split
from apps.goldsets.selectors.versions import gold_set_in
from apps.retrieval.selectors.systems import system_in


class GateRequestSerializer(serializers.Serializer[Any]):
    """A gate to create. `rule` has the keys of a `[[gate]]` in a file of gates; `baseline` is a run."""

    gold_set = serializers.SlugField(max_length=60)
    system = KeyField()
    rule = serializers.DictField()
    split = ChoiceField(choices=list(SPLITS), default=Split.DEV, allow_blank=True)
    baseline = KeyField(allow_null=True, default=None)


class GateChangeSerializer(serializers.Serializer[Any]):
    """Changes to a gate's rule: keys of a `[[gate]]` with their new values; null removes a key."""

    rule = serializers.DictField(allow_empty=False)


class GateResultSerializer(serializers.Serializer[GateResult]):
    """The result of a gate on one run and version, with the estimate it was decided on.

    Where it could not be decided `gap` is the reason as a code and `words` a sentence; `value` and its interval are
    null where there is not even a figure, with the sentence as `reason`. Cost has no interval; results from before
    intervals were stored have none either.
    """

    evaluation = serializers.IntegerField(source="evaluation_id")
    run = serializers.IntegerField(source="evaluation.run_id")
    tag = serializers.CharField(source="evaluation.run.tag")
    version = serializers.IntegerField(source="evaluation.version.number")
    state = ChoiceField(choices=GateState.choices)
    value = serializers.FloatField(source="estimate.value", allow_null=True)
    low = serializers.FloatField(source="estimate.low", allow_null=True)
    high = serializers.FloatField(source="estimate.high", allow_null=True)
    n = serializers.IntegerField(source="estimate.n")
    method = serializers.CharField(source="estimate.method")
    reason = serializers.CharField(source="estimate.reason")
    gap = ChoiceField(choices=GAPS, allow_null=True)
    bound = serializers.FloatField(allow_null=True)
    words = serializers.CharField()
    decided_at = serializers.DateTimeField()


class GateSerializer(serializers.Serializer[Any]):
    """A gate, its rule, and its current result: that of the newest run on the newest version."""

    id = serializers.IntegerField(source="gate.pk")
    name = serializers.CharField(source="gate.name")
    gold_set = serializers.CharField(source="gate.gold_set.slug")
    system = serializers.CharField(source="gate.system.name")
    split = serializers.CharField(source="gate.split")
    tier = ChoiceField(choices=Tier.choices, source="gate.tier")
    rule = serializers.DictField(source="gate.rule")
    asks = serializers.CharField(source="requirement")
    baseline = serializers.IntegerField(source="gate.baseline_id", allow_null=True)
    state = ChoiceField(choices=GateState.choices)
    newest = GateResultSerializer(source="result", allow_null=True)
    waits_for = serializers.CharField(
        help_text="Of a gate on cost: the tag of a newer run that was scored and has no cost yet. Else empty."
    )
    replaces = serializers.IntegerField(source="gate.replaces_id", allow_null=True, help_text="The gate before this.")
    retired_at = serializers.DateTimeField(source="gate.retired_at", allow_null=True)


class GateDetailSerializer(GateSerializer):
    """The same, with the gate's results for up to a hundred runs, newest version and run first.

    `has_badge` tells whether the system has a public badge on the gold set; its address is on the page alone.
    """

    has_badge = serializers.SerializerMethodField()
    next = serializers.SerializerMethodField(help_text="What to do about it; empty where nothing is to be done.")
    results = serializers.SerializerMethodField()

    def get_has_badge(self, row: GateStatus) -> bool:
        return badge_of(row.gate.gold_set, row.gate.system_id) is not None

    def get_next(self, row: GateStatus) -> str:
        step = next_step(row.gate, row.result) if row.gate.retired_at is None else None
        return step.words if step else ""

    @extend_schema_field(GateResultSerializer(many=True))
    def get_results(self, row: GateStatus) -> list[dict[str, Any]]:
        return list(GateResultSerializer(self.context["results"], many=True).data)


class GateFileRequestSerializer(serializers.Serializer[Any]):
    """A file of gates to import: its TOML as `text`. With `only_look` nothing is created."""

    system = KeyField()
    text = serializers.CharField(max_length=formats.LONGEST_FILE, trim_whitespace=False)
    split = ChoiceField(choices=list(SPLITS), default=Split.DEV, allow_blank=True)
    baseline = KeyField(allow_null=True, default=None)
    only_look = serializers.BooleanField(default=False)


class GateFileSerializer(serializers.Serializer[Any]):
    """The rules of a file as Karat reads them, in file order, and the gates created from them."""

    rules = serializers.ListField(child=serializers.DictField())
    gates = serializers.ListField(child=serializers.IntegerField())


class GateFile(RunsAPIView):
    """The gates in use of a system on a gold set, as a file for `karat eval`."""

    roles: ClassVar = {"GET": ()}
    content_negotiation_class = OneForm

    @extend_schema(operation_id="gates_file_read", responses={(200, "application/toml"): OpenApiTypes.BINARY})
    def get(self, request: Request, gold_set: str, system_pk: int, **ids: Any) -> HttpResponse:
        return file_response(gold_set_in(self.project, gold_set), system_in(self.project, system_pk))


class GateFileIn(RunsAPIView):
    """Creates the gates of a file, all of them or none. Errors name line and field."""

    roles: ClassVar = {"POST": (Role.LEAD,)}

    @extend_schema(
        operation_id="gates_file_import",
        request=GateFileRequestSerializer,
        responses={200: GateFileSerializer, 201: GateFileSerializer},
    )
    def post(self, request: Request, gold_set: str, **ids: Any) -> Response:
        values = given_in(request.data, GateFileRequestSerializer)
        chosen = gold_set_in(self.project, gold_set)
        if values["only_look"]:
            _, planned = planned_in(chosen, values)
            return Response({"rules": [as_facts(rule) for rule in planned], "gates": []})
        made = actions.create_gates(
            gold_set=chosen,
            system_id=values["system"],
            text=values["text"],
            split=values["split"],
            baseline_id=values["baseline"],
            actor=self.member.user,
            at=timezone.now(),
        )
        return Response({"rules": [gate.rule for gate in made], "gates": [gate.pk for gate in made]}, status=201)


MOST_RESULTS = 100


class GateList(RunsAPIView):
    """Lists gates in use with their states; creates one."""

    roles: ClassVar = {"GET": (), "POST": (Role.LEAD,)}

    @extend_schema(operation_id="gates_list", responses=GateSerializer(many=True))
    def get(self, request: Request, **ids: Any) -> Response:
        return Response(GateSerializer(gates.statuses(gates.gates_in(self.project)), many=True).data)

    @extend_schema(operation_id="gates_create", request=GateRequestSerializer, responses={201: GateSerializer})
    def post(self, request: Request, **ids: Any) -> Response:
        values = given_in(request.data, GateRequestSerializer)
        gate = actions.create_gate(
            gold_set=gold_set_in(self.project, values["gold_set"]),
            system_id=values["system"],
            facts=values["rule"],
            split=values["split"],
            baseline_id=values["baseline"],
            actor=self.member.user,
            at=timezone.now(),
        )
        return Response(GateSerializer(gates.statuses([gate])[0]).data, status=201)


class GateDetail(RunsAPIView):
    """One gate with its results on the newest runs."""

    roles: ClassVar = {"GET": ()}

    @extend_schema(operation_id="gates_read", responses=GateDetailSerializer)
    def get(self, request: Request, pk: int, **ids: Any) -> Response:
        gate = gates.gate_in(self.project, pk)
        results = gates.results_of(gate)[:MOST_RESULTS]
        return Response(GateDetailSerializer(gates.statuses([gate])[0], context={"results": results}).data)


class GateChange(RunsAPIView):
    """Replaces a gate by one with another rule; the old one is retired and keeps its results."""

    roles: ClassVar = {"POST": (Role.LEAD,)}

    @extend_schema(operation_id="gates_replace", request=GateChangeSerializer, responses={201: GateSerializer})
    def post(self, request: Request, pk: int, **ids: Any) -> Response:
        gate = gates.gate_in(self.project, pk)
        changes = given_in(request.data, GateChangeSerializer)["rule"]
        made = actions.replace_gate(gate=gate, changes=changes, actor=self.member.user, at=timezone.now())
        return Response(GateSerializer(gates.statuses([made])[0]).data, status=201)


class GateEnd(RunsAPIView):
    """Retires a gate. Its results are kept."""

    roles: ClassVar = {"POST": (Role.LEAD,)}

    @extend_schema(operation_id="gates_retire", request=None, responses=GateSerializer)
    def post(self, request: Request, pk: int, **ids: Any) -> Response:
        gate = gates.gate_in(self.project, pk)
        retired = actions.retire_gate(gate=gate, actor=self.member.user, at=timezone.now())
        return Response(GateSerializer(gates.statuses([retired])[0]).data)


class BadgeEnd(RunsAPIView):
    """Revokes the badge of a gate's system on its gold set: its address answers 404 from then on.

    One is made on the page alone: whoever knows its address sees the states of gates without signing in, also after
    their token has ended.
    """

    roles: ClassVar = {"POST": (Role.LEAD,)}

    @extend_schema(operation_id="gates_revoke_badge", request=None, responses={204: None})
    def post(self, request: Request, pk: int, **ids: Any) -> Response:
        gate = gates.gate_in(self.project, pk)
        actions.revoke_badge(gold_set=gate.gold_set, system=gate.system, actor=self.member.user, at=timezone.now())
        return Response(status=204)
