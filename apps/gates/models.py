from django.conf import settings
from django.db import models
from django.db.models import Q

from apps.evaluation.models import Evaluation, tells_of_single_items
from apps.gates.enums import GateState, Tier
from apps.goldsets.models import GoldSet
from apps.metrics.estimate import PERCENTILE, Estimate, interval_of
from apps.retrieval.models import Run, System


class Gate(models.Model):
    """A rule that every score of one system on one gold set must meet. A changed rule is a new gate."""

    gold_set = models.ForeignKey(GoldSet, models.PROTECT, related_name="gates")
    system = models.ForeignKey(System, models.PROTECT, related_name="gates")
    name = models.CharField(max_length=120)
    tier = models.CharField(max_length=5, choices=Tier.choices, default=Tier.FULL)
    split = models.CharField(max_length=4, blank=True, help_text="Empty: dev and test together.")
    rule = models.JSONField(help_text="As `gates.core.rule` writes it.")
    baseline = models.ForeignKey(Run, models.PROTECT, null=True, related_name="+")
    replaces = models.ForeignKey("self", models.PROTECT, null=True, related_name="replaced_by")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    created_at = models.DateTimeField()
    retired_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["gold_set", "system", "name"], condition=Q(retired_at=None), name="gate_name_in_use_once"
            ),
            models.UniqueConstraint(
                fields=["replaces"], condition=Q(replaces__isnull=False), name="gate_replaced_once"
            ),
            models.CheckConstraint(name="gate_tier_is_known", condition=Q(tier__in=Tier.values)),
        ]

    def __str__(self) -> str:
        return self.name


class ShownResults(models.Manager["GateResult"]):
    """All but those on evaluations that tell of single items of test."""

    def get_queryset(self) -> models.QuerySet["GateResult"]:
        return super().get_queryset().exclude(tells_of_single_items("evaluation__"))


class GateResult(models.Model):
    """The result of a gate on one evaluation. Never changes. `words` is the sentence for people.

    Value, interval and n are what it was decided on; the interval is empty where the figure has none, and computed by
    `method`. Where nothing could be decided `gap` is the reason, one of `GAPS`. The oldest results have neither
    interval nor n: they were not stored then.
    """

    gate = models.ForeignKey(Gate, models.PROTECT, related_name="results")
    evaluation = models.ForeignKey(Evaluation, models.PROTECT, related_name="gate_results")
    state = models.CharField(max_length=8, choices=GateState.choices)
    value = models.FloatField(null=True)
    ci_low = models.FloatField(null=True)
    ci_high = models.FloatField(null=True)
    n = models.PositiveIntegerField(null=True, help_text="Queries that the value is of.")
    method = models.CharField(max_length=20, db_default=PERCENTILE)
    gap = models.CharField(max_length=16, null=True)  # noqa: DJ001 - a filled default would rebuild the table
    bound = models.FloatField(null=True)
    words = models.CharField(max_length=400)
    decided_at = models.DateTimeField()

    objects = ShownResults()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["gate", "evaluation"], name="gate_result_once"),
            models.CheckConstraint(name="gate_state_is_known", condition=Q(state__in=GateState.values)),
        ]
        indexes = [models.Index(fields=["gate", "-id"], name="gate_result_newest_first")]

    def __str__(self) -> str:
        return f"{self.gate_id}: {self.state}"

    @property
    def estimate(self) -> Estimate:
        """The figure decided on; without a value, the reason."""
        interval = interval_of(self.ci_low, self.ci_high)
        return Estimate.of(self.value, interval, self.n or 0, self.method, self.words if self.value is None else "")


class Badge(models.Model):
    """The address of a public picture with the state of one system's gates."""

    gold_set = models.ForeignKey(GoldSet, models.PROTECT, related_name="badges")
    system = models.ForeignKey(System, models.PROTECT, related_name="badges")
    token = models.CharField(max_length=64, unique=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    created_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["gold_set", "system"], condition=Q(revoked_at=None), name="badge_one_in_use"
            ),
        ]

    def __str__(self) -> str:
        return f"badge of {self.system_id} on {self.gold_set_id}"
