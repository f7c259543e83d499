from django.conf import settings
from django.db import models
from django.db.models import Q

from apps.accounts.models import Project
from apps.evaluation.enums import GateState, Tier
from apps.goldsets.models import GoldSet, Version
from apps.jobs.models import Job
from apps.metrics.statistics.significance import DEFAULT_SEED
from apps.retrieval.models import Pool, Run, System


class Requested(models.Model):
    """What somebody asks for on one side of a version and a job computes. Asking again adds no rows."""

    split = models.CharField(max_length=4, blank=True, help_text="Empty: dev and test together.")
    measures = models.JSONField(help_text="Measure names in the order asked for.")
    job = models.ForeignKey(Job, models.PROTECT, null=True, related_name="+")
    requested_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+")
    requested_at = models.DateTimeField()

    class Meta:
        abstract = True


class Evaluation(Requested):
    """The scores of one run against one version for one list of measures.

    Once scored it never changes. `counts` holds judged, with_relevant, in_run and missing, and `judged_to`, the share
    of judged blocks in the first 1, 2, … results.
    """

    project = models.ForeignKey(Project, models.PROTECT, related_name="evaluations")
    run = models.ForeignKey(Run, models.PROTECT, related_name="evaluations")
    version = models.ForeignKey(Version, models.PROTECT, related_name="evaluations")
    measures_digest = models.CharField(max_length=64)
    seed = models.BigIntegerField(default=DEFAULT_SEED)
    counts = models.JSONField(default=dict)
    query_ids = models.JSONField(default=list, help_text="Outside ids in the order of each score's values.")
    scored_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["run", "version", "split", "measures_digest", "seed"], name="evaluation_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.run_id} on {self.version_id}"

    @property
    def is_scored(self) -> bool:
        return self.scored_at is not None


class Score(models.Model):
    """The value of one measure: its mean with interval, and each query's value as `packing.pack` writes them.

    `mean` is empty when no query has a value, the interval when fewer than two have one. Judged@10 stands last in
    every evaluation, asked for or not.
    """

    evaluation = models.ForeignKey(Evaluation, models.PROTECT, related_name="scores")
    measure = models.CharField(max_length=80)
    order = models.PositiveSmallIntegerField()
    mean = models.FloatField(null=True)
    ci_low = models.FloatField(null=True)
    ci_high = models.FloatField(null=True)
    bca_low = models.FloatField(null=True, help_text="The same interval, bias-corrected and accelerated.")
    bca_high = models.FloatField(null=True)
    people_low = models.FloatField(null=True, help_text="Interval over people too: what their leanings add.")
    people_high = models.FloatField(null=True)
    n = models.PositiveIntegerField()
    values = models.BinaryField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["evaluation", "measure"], name="score_once_per_measure")]

    def __str__(self) -> str:
        return f"{self.measure} {'undefined' if self.mean is None else format(self.mean, '.4f')}"


class Report(Requested):
    """What a job finds out about the order of runs. Once computed it never changes. `digest` covers what was asked."""

    runs = models.JSONField(help_text="Keys of the runs, ascending.")
    digest = models.CharField(max_length=64)
    computed_at = models.DateTimeField(null=True)

    class Meta:
        abstract = True

    @property
    def is_computed(self) -> bool:
        return self.computed_at is not None


class BiasReport(Report):
    """What one side of a version owes to each system that was pooled.

    `depth` says who is taken to have brought a pair in: every run that ranks it so high, or, at 0, whoever the pools
    of the version's rounds name.
    """

    project = models.ForeignKey(Project, models.PROTECT, related_name="bias_reports")
    version = models.ForeignKey(Version, models.PROTECT, related_name="bias_reports")
    measures = models.JSONField(help_text="Measure names in the order asked for; the first weighs what to judge first.")
    depth = models.PositiveIntegerField(default=0)
    result = models.JSONField(default=dict, help_text="As `execution.bias` writes it.")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["version", "digest"], name="bias_report_once")]

    def __str__(self) -> str:
        return f"{len(self.runs)} runs on {self.version_id}"


class StabilityReport(Report):
    """Whether the order of systems holds under each annotator's grades."""

    project = models.ForeignKey(Project, models.PROTECT, related_name="stability_reports")
    version = models.ForeignKey(Version, models.PROTECT, related_name="stability_reports")
    result = models.JSONField(default=dict, help_text="As `execution` writes it.")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["version", "digest"], name="stability_report_once")]

    def __str__(self) -> str:
        return f"{len(self.runs)} runs on {self.version_id}"


class RunNote(models.Model):
    """The ledger's line of a run: what was tried, with what, at which price, and what came of it."""

    run = models.OneToOneField(Run, models.PROTECT, related_name="ledger")
    tried = models.TextField(blank=True)
    commit = models.CharField(max_length=80, blank=True)
    configuration = models.TextField(blank=True)
    verdict = models.TextField(blank=True)
    cost = models.DecimalField(
        max_digits=12, decimal_places=4, null=True, help_text="Of 1,000 queries, in the project's currency."
    )
    written_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    written_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.CheckConstraint(name="run_cost_is_not_negative", condition=Q(cost=None) | Q(cost__gte=0)),
        ]

    def __str__(self) -> str:
        return f"ledger of {self.run_id}"


class Gate(models.Model):
    """A rule that every score of one system on one gold set is held to. A changed rule is a new gate."""

    gold_set = models.ForeignKey(GoldSet, models.PROTECT, related_name="gates")
    system = models.ForeignKey(System, models.PROTECT, related_name="gates")
    name = models.CharField(max_length=120)
    tier = models.CharField(max_length=5, choices=Tier.choices, default=Tier.FULL)
    split = models.CharField(max_length=4, blank=True, help_text="Empty: dev and test together.")
    rule = models.JSONField(help_text="As `gating.as_facts` writes it.")
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


class GateResult(models.Model):
    """What a gate said of one evaluation. Never changes. `words` is the sentence for people.

    Value, interval and n are what it decided on; the interval is empty where the figure has none. Where nothing could
    be decided `gap` is the word for why, one of `gating.GAPS`. Results from before 0005 have neither interval nor n.
    """

    gate = models.ForeignKey(Gate, models.PROTECT, related_name="results")
    evaluation = models.ForeignKey(Evaluation, models.PROTECT, related_name="gate_results")
    state = models.CharField(max_length=8, choices=GateState.choices)
    value = models.FloatField(null=True)
    ci_low = models.FloatField(null=True)
    ci_high = models.FloatField(null=True)
    n = models.PositiveIntegerField(null=True, help_text="Queries that the value is of.")
    gap = models.CharField(max_length=16, null=True)  # noqa: DJ001 - a filled default would rebuild the table
    bound = models.FloatField(null=True)
    words = models.CharField(max_length=400)
    decided_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["gate", "evaluation"], name="gate_result_once"),
            models.CheckConstraint(name="gate_state_is_known", condition=Q(state__in=GateState.values)),
        ]
        indexes = [models.Index(fields=["gate", "-id"], name="gate_result_newest_first")]

    def __str__(self) -> str:
        return f"{self.gate_id}: {self.state}"


class Badge(models.Model):
    """The address of a picture that tells anybody who knows it how the gates of one system stand."""

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


class ClosedComparison(models.Model):
    """That a lead closed a comparison by one measure, every drop explained, and with which sentence."""

    baseline = models.ForeignKey(Evaluation, models.PROTECT, related_name="+")
    candidate = models.ForeignKey(Evaluation, models.PROTECT, related_name="+")
    measure = models.CharField(max_length=80)
    verdict = models.TextField()
    closed_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    closed_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["baseline", "candidate", "measure"], name="comparison_closed_once")
        ]

    def __str__(self) -> str:
        return self.verdict


class RegressionNote(models.Model):
    """What somebody decided about a query that fell from a baseline to a candidate."""

    class Decision(models.TextChoices):
        ACCEPT = "accept", "Accept"
        FIX = "fix", "Fix"
        GRADES_WRONG = "grades_wrong", "Grades wrong"

    baseline = models.ForeignKey(Evaluation, models.PROTECT, related_name="+")
    candidate = models.ForeignKey(Evaluation, models.PROTECT, related_name="+")
    measure = models.CharField(max_length=80)
    query_id_text = models.CharField(max_length=200)
    decision = models.CharField(max_length=16, choices=Decision.choices)
    explanation = models.TextField(blank=True)
    pool = models.ForeignKey(
        Pool, models.PROTECT, null=True, related_name="+", help_text="Where its pairs are judged again."
    )
    decided_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    decided_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["baseline", "candidate", "measure", "query_id_text"], name="regression_note_once"
            ),
            models.CheckConstraint(
                name="regression_decision_is_known",
                condition=Q(decision__in=["accept", "fix", "grades_wrong"]),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.query_id_text}: {self.decision}"
