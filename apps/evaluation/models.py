from typing import Any, Self

from django.conf import settings
from django.db import models
from django.db.models import Exists, OuterRef, Q
from numpy.typing import ArrayLike

from apps.accounts.models import Project
from apps.evaluation.core import packing
from apps.goldsets.enums import Split
from apps.goldsets.models import GoldSet, Slice, Version, VersionGrade, VersionQuery, VersionTriple
from apps.jobs.models import Job
from apps.metrics.estimate import PERCENTILE, interval_of
from apps.metrics.expected.rules import BY_GRADES, TEXT, HitRule, counts_questions, is_by_text, parse_hit_rule
from apps.metrics.measures.entries import Measure
from apps.metrics.scoring import IfJudged, UnknownValues
from apps.metrics.statistics.significance import DEFAULT_SEED, FEWEST_FOR_A_VERDICT, Summary, few_words
from apps.metrics.statistics.strata import FEWEST_IN_STRATUM
from apps.retrieval.models import Pool, Run, System


class Requested(models.Model):
    """A request for one split of a version that a job computes. The same request again adds no row."""

    split = models.CharField(max_length=4, blank=True, help_text="Empty: dev and test together.")
    measures = models.JSONField(help_text="Measure names in the requested order.")
    job = models.ForeignKey(Job, models.PROTECT, null=True, related_name="+")
    requested_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+")
    requested_at = models.DateTimeField()

    class Meta:
        abstract = True

    project: Project

    @property
    def is_computed(self) -> bool:
        raise NotImplementedError


def test_items(version: int | OuterRef, *, by_triples: bool) -> models.QuerySet[Any]:
    """What a version is scored on in test, by triples or by grades."""
    if by_triples:
        return VersionTriple.objects.filter(version=version, split=Split.TEST)
    graded = VersionGrade.objects.filter(query=OuterRef("pk"))
    return VersionQuery.objects.filter(Exists(graded), version=version, split=Split.TEST)


def by_grades(prefix: str = "") -> Q:
    """Of evaluations: those by grades, of the blocks that are returned or by text. `prefix` leads to them."""
    return Q(**{f"{prefix}hit": BY_GRADES}) | Q(**{f"{prefix}hit__startswith": TEXT})


def tells_of_single_items(prefix: str = "") -> Q:
    """Of evaluations: a mean would tell of single items of test, which has too few. `prefix` leads to them."""

    def is_small(*, by_triples: bool) -> Q:
        items = test_items(OuterRef(f"{prefix}version"), by_triples=by_triples)
        return Q(Exists(items), ~Exists(items[FEWEST_IN_STRATUM - 1 :]))

    grades = by_grades(prefix)
    is_small_side = grades & is_small(by_triples=False) | ~grades & is_small(by_triples=True)
    has_test = Q(**{f"{prefix}slice": None, f"{prefix}split__in": ["", Split.TEST]})
    return has_test & is_small_side


class ShownEvaluations(models.Manager["Evaluation"]):
    """All but those that tell of single items of test, and those that stay sealed."""

    def get_queryset(self) -> models.QuerySet["Evaluation"]:
        return super().get_queryset().filter(sealed_by=None).exclude(tells_of_single_items())


class WholeEvaluations(ShownEvaluations):
    """Of these the evaluations on all questions of a split, without those on a slice."""

    def get_queryset(self) -> models.QuerySet["Evaluation"]:
        return super().get_queryset().filter(slice=None)


class Evaluation(Requested):
    """The scores of one run against one version for one list of measures: by its grades, or by its triples.

    By grades a returned block earns its grade, or, by text (`is_by_text`), whatever is returned earns the grades of the
    blocks whose words it holds. The two are never compared with each other.

    Once scored it never changes. By grades, `query_ids` are those of queries, and `counts` has judged, with_relevant,
    in_run and missing, `judged_to`, the share of judged blocks in the first 1, 2, … results, `if_judged`, what unjudged
    results leave open of each measure, `unknown_values`, what measures of attributes leave out, and
    `precision_at_recall`, the precision–recall curve (evaluations of before the three were computed lack them). By
    triples, they are labels of triples, and `counts` is as `hit_scoring` writes it.

    `objects` are those on a whole split, for leaderboards and trends. `everything` has those on a slice too, which are
    of other questions and are compared with their like alone. Neither has those that tell of single items of test,
    which older releases made, or those that stay sealed: these were scored on test and did not beat the best published
    score by the step of the project. They have no scores, no counts and no ids.
    """

    project = models.ForeignKey(Project, models.PROTECT, related_name="evaluations")
    run = models.ForeignKey(Run, models.PROTECT, related_name="evaluations")
    version = models.ForeignKey(Version, models.PROTECT, related_name="evaluations")
    hit = models.CharField(
        max_length=60, blank=True, db_default="", default=BY_GRADES, help_text="A hit rule; empty: by grades."
    )
    slice = models.ForeignKey(Slice, models.PROTECT, null=True, related_name="evaluations")
    slice_size = models.PositiveIntegerField(
        null=True, help_text="The first questions of the slice, by number, that were scored."
    )
    measures_digest = models.CharField(
        max_length=64, help_text="Over the measures, with the hit rule and the slice where there is one."
    )
    seed = models.BigIntegerField(default=DEFAULT_SEED)
    counts = models.JSONField(default=dict)
    query_ids = models.JSONField(default=list, help_text="Outside ids in the order of each score's values.")
    scored_at = models.DateTimeField(null=True)
    sealed_by = models.FloatField(
        null=True, help_text="The step by which its score does not beat the best published one; empty: published."
    )

    objects = WholeEvaluations()
    everything: "models.Manager[Evaluation]" = ShownEvaluations()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["run", "version", "split", "measures_digest", "seed"], name="evaluation_once"
            ),
            models.CheckConstraint(
                name="evaluation_slice_has_a_size",
                condition=Q(slice=None, slice_size=None)
                | Q(slice__isnull=False, slice_size__isnull=False, slice_size__gte=1),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.run_id} on {self.version_id}"

    @property
    def rule(self) -> HitRule | None:
        """The hit rule, of scores by text too; None for scores by the grades of returned blocks."""
        return parse_hit_rule(self.hit) if self.hit else None

    @property
    def counts_questions(self) -> bool:
        """Whether it is of the questions of triples; else of queries, by grades."""
        return counts_questions(self.hit)

    @property
    def is_by_text(self) -> bool:
        """Whether grades count for whatever holds the words of a graded block."""
        return is_by_text(self.hit)

    @property
    def left_out(self) -> list[str]:
        """What measures of attributes leave out, a sentence each."""
        return [UnknownValues(**one).words for one in self.counts.get("unknown_values", ())]

    def if_judged(self, measure: str) -> IfJudged:
        """What the unjudged results leave open of a measure; nothing known where that was not computed."""
        return IfJudged(**self.counts.get("if_judged", {}).get(measure, {"judged": None}))

    @property
    def is_scored(self) -> bool:
        return self.scored_at is not None

    @property
    def is_computed(self) -> bool:
        return self.is_scored


class Score(models.Model):
    """The value of one measure: its mean with interval, and each query's value as `packing.pack` writes them.

    `mean` is empty when no query has a value, the interval when fewer than two have one. Judged@10 is last in every
    evaluation, requested or not.
    """

    evaluation = models.ForeignKey(Evaluation, models.PROTECT, related_name="scores")
    measure = models.CharField(max_length=80)
    order = models.PositiveSmallIntegerField()
    mean = models.FloatField(null=True)
    ci_low = models.FloatField(null=True)
    ci_high = models.FloatField(null=True)
    method = models.CharField(max_length=20, db_default=PERCENTILE, help_text="How the interval was computed.")
    people_low = models.FloatField(null=True, help_text="Interval over people too: what their leanings add.")
    people_high = models.FloatField(null=True)
    n = models.PositiveIntegerField()
    values = models.BinaryField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["evaluation", "measure"], name="score_once_per_measure")]

    def __str__(self) -> str:
        return f"{self.measure} {'undefined' if self.mean is None else format(self.mean, '.4f')}"

    @classmethod
    def of(
        cls,
        evaluation: Evaluation,
        order: int,
        measure: Measure,
        summary: Summary,
        values: ArrayLike,
        people: tuple[float, float] | None = None,
    ) -> Self:
        """The row, not saved yet."""
        low, high = summary.interval or (None, None)
        people_low, people_high = people or (None, None)
        return cls(
            evaluation=evaluation,
            measure=str(measure),
            order=order,
            mean=summary.mean,
            ci_low=low,
            ci_high=high,
            method=summary.method,
            people_low=people_low,
            people_high=people_high,
            n=summary.n,
            values=packing.pack(values),
        )

    @property
    def summary(self) -> Summary:
        """The stored mean with its interval."""
        return Summary(self.mean, self.interval, self.n, self.method)

    @property
    def interval(self) -> tuple[float, float] | None:
        return interval_of(self.ci_low, self.ci_high)

    @property
    def few(self) -> str:
        """The warning where the interval is over too few queries."""
        return few_words(self.n)

    @property
    def people(self) -> tuple[float, float] | None:
        """The interval over queries and people, where several judged."""
        return interval_of(self.people_low, self.people_high)


class RunNote(models.Model):
    """The ledger entry of a run: what was tried, its configuration, its cost, and the outcome."""

    run = models.OneToOneField(Run, models.PROTECT, related_name="ledger")
    tried = models.TextField(blank=True)
    commit = models.CharField(max_length=80, blank=True)
    configuration = models.TextField(blank=True)
    verdict = models.TextField(blank=True)
    cost = models.DecimalField(
        max_digits=12, decimal_places=4, null=True, help_text="Of 1,000 queries, in the project's currency."
    )
    prices = models.JSONField(
        null=True, help_text="Prices that the cost is worked out of, as texts; empty for a typed cost."
    )
    figures = models.JSONField(null=True, help_text="Figures measured elsewhere, such as clicks, by name.")
    written_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    written_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.CheckConstraint(name="run_cost_is_not_negative", condition=Q(cost=None) | Q(cost__gte=0)),
        ]

    def __str__(self) -> str:
        return f"ledger of {self.run_id}"

    @property
    def cost_from(self) -> str:
        """Where the cost is from: "typed", "prices", or "" without one."""
        return "" if self.cost is None else "prices" if self.prices else "typed"


class Comparison(models.Model):
    """The record that two runs were compared on a version by a measure: who looked first, and at how many queries.

    A against B is B against A: `first` is the run that was made first. All of one version, split, hit rule, slice and
    measure are the family over which p and evidence are corrected.
    """

    version = models.ForeignKey(Version, models.PROTECT, related_name="comparisons")
    split = models.CharField(max_length=4, blank=True)
    hit = models.CharField(max_length=60, blank=True)
    slice = models.ForeignKey(Slice, models.PROTECT, null=True, related_name="+")
    slice_size = models.PositiveIntegerField(null=True)
    measure = models.CharField(max_length=80)
    first = models.ForeignKey(Run, models.PROTECT, related_name="+")
    second = models.ForeignKey(Run, models.PROTECT, related_name="+")
    n = models.PositiveIntegerField(help_text="Queries, or questions, that both runs have a value for.")
    seen_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    seen_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                name="comparison_once",
                fields=["version", "split", "hit", "measure", "first", "second"],
                condition=Q(slice=None),
            ),
            models.UniqueConstraint(
                name="comparison_on_slice_once",
                fields=["version", "split", "hit", "slice", "slice_size", "measure", "first", "second"],
                condition=Q(slice__isnull=False),
            ),
            models.CheckConstraint(name="comparison_is_in_order", condition=Q(first__lt=models.F("second"))),
        ]

    def __str__(self) -> str:
        return f"{self.second_id} against {self.first_id} by {self.measure}"


class PlannedComparison(models.Model):
    """The number of queries at which the fixed test of two systems decides, on whichever version has so many first."""

    gold_set = models.ForeignKey(GoldSet, models.PROTECT, related_name="+")
    split = models.CharField(max_length=4, blank=True)
    hit = models.CharField(max_length=60, blank=True)
    measure = models.CharField(max_length=80)
    first = models.ForeignKey(System, models.PROTECT, related_name="+")
    second = models.ForeignKey(System, models.PROTECT, related_name="+")
    queries = models.PositiveIntegerField()
    planned_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    planned_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                name="comparison_planned_once", fields=["gold_set", "split", "hit", "measure", "first", "second"]
            ),
            models.CheckConstraint(name="planned_comparison_is_in_order", condition=Q(first__lt=models.F("second"))),
            models.CheckConstraint(name="planned_comparison_is_enough", condition=Q(queries__gte=FEWEST_FOR_A_VERDICT)),
        ]

    def __str__(self) -> str:
        return f"{self.second_id} against {self.first_id} at {self.queries}"


class ClosedComparison(models.Model):
    """The record that a lead closed a comparison by one measure, with its verdict as a sentence."""

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
    """A decision on a query whose score fell from a baseline to a candidate."""

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
