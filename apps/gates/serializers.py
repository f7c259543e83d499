"""Gates and their results in the API."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from apps.common.web.forms import ChoiceField
from apps.evaluation.rules import SPLITS
from apps.gates.core.decisions import GAPS
from apps.gates.enums import GateState, Tier
from apps.gates.models import GateResult
from apps.gates.selectors.gates import GateStatus, badge_of, next_step
from apps.goldsets.enums import Split


class GateRequestSerializer(serializers.Serializer[Any]):
    """A gate to create. `rule` has the keys of a `[[gate]]` in a file of gates; `baseline` is a run."""

    gold_set = serializers.SlugField(max_length=60)
    system = serializers.IntegerField(min_value=1)
    rule = serializers.DictField()
    split = ChoiceField(choices=list(SPLITS), default=Split.DEV, allow_blank=True)
    baseline = serializers.IntegerField(min_value=1, allow_null=True, default=None)


class GateChangeSerializer(serializers.Serializer[Any]):
    """Changes to a gate's rule: keys of a `[[gate]]` with their new values; null removes a key."""

    rule = serializers.DictField(allow_empty=False)


class GateResultSerializer(serializers.Serializer[GateResult]):
    """The result of a gate on one run and version, with the estimate it was decided on.

    `value` and its interval are null where it could not be decided; then `gap` is the reason as a code, `reason` and
    `words` as a sentence. Cost has no interval; results from before intervals were stored have none either.
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
