"""Comparisons and the ledger as JSON."""

from typing import Any, ClassVar

from rest_framework import serializers

from apps.common.web.estimates import EstimateSerializer
from apps.evaluation.models import RunNote
from apps.evaluation.rules import LONGEST_COMMIT
from apps.evaluation.selectors.comparisons import EvaluationPair
from apps.metrics.comparison import MeasureComparison


class StatisticSerializer(serializers.Serializer[Any]):
    """A test statistic, its two-sided p (not corrected), and the number of differences it uses."""

    value = serializers.FloatField()
    p = serializers.FloatField()
    n = serializers.IntegerField()


class McNemarSerializer(serializers.Serializer[Any]):
    """The exact McNemar test of a yes-or-no measure: the queries on which only one run is right, and its p."""

    baseline_alone = serializers.IntegerField()
    candidate_alone = serializers.IntegerField()
    p = serializers.FloatField()


class MeasureComparisonSerializer(serializers.Serializer[Any]):
    """One measure of a comparison, candidate minus baseline; null means not defined.

    `difference` has the percentile interval, `bca` the corrected one. `p_holm` is `p` corrected over all measures of
    the comparison. `rests_on` counts the queries that differ where they are a handful among many equal ones: the
    interval is then not safe, and `sign`, the exact sign test (its `value` counts the better ones), is used instead.
    `sign`, `t` and `wilcoxon` are not corrected. `detectable_difference` is the smallest difference that `n` queries
    detect with a power of 80 % at the 5 % level, `queries_needed` the number of queries that would detect the
    difference seen.
    """

    measure = serializers.CharField()
    baseline = serializers.FloatField()
    candidate = serializers.FloatField()
    difference = EstimateSerializer()
    bca = EstimateSerializer()
    verdict = serializers.CharField()
    p = serializers.FloatField()
    p_holm = serializers.FloatField()
    better = serializers.IntegerField()
    equal = serializers.IntegerField()
    worse = serializers.IntegerField()
    rests_on = serializers.IntegerField(allow_null=True)
    sign = StatisticSerializer(allow_null=True)
    mcnemar = McNemarSerializer(allow_null=True)
    t = StatisticSerializer(allow_null=True)
    wilcoxon = StatisticSerializer(allow_null=True)
    effect_size = EstimateSerializer()
    detectable_difference = serializers.FloatField(allow_null=True)
    queries_needed = serializers.IntegerField(allow_null=True)
    regressions = serializers.IntegerField()
    unexplained = serializers.IntegerField()


class ComparisonSerializer(serializers.Serializer[Any]):
    """Two evaluations compared, without queries. `verdict` is the sentence of the first measure."""

    baseline = serializers.IntegerField()
    candidate = serializers.IntegerField()
    version = serializers.IntegerField()
    version_digest = serializers.CharField()
    split = serializers.CharField(allow_blank=True)
    hit = serializers.CharField(allow_blank=True)
    seed = serializers.IntegerField()
    verdict = serializers.CharField()
    measures = MeasureComparisonSerializer(many=True)


def comparison_facts(pair: EvaluationPair) -> dict[str, Any]:
    """The values for `ComparisonSerializer`; the pair shares at least one measure."""
    candidate, measures = pair.candidate, pair.comparison.measures
    return {
        "baseline": pair.baseline.pk,
        "candidate": candidate.pk,
        "version": candidate.version_id,
        "version_digest": candidate.version.digest,
        "split": candidate.split,
        "hit": candidate.hit,
        "seed": candidate.seed,
        "verdict": pair.verdict(measures[0]),
        "measures": [_measure(pair, one) for one in measures],
    }


def _measure(pair: EvaluationPair, one: MeasureComparison) -> dict[str, Any]:
    fell = pair.regressions(one.measure)
    return {**one.as_json, "regressions": fell.total, "unexplained": fell.unexplained}


class LedgerSerializer(serializers.Serializer[Any]):
    """A ledger entry to write. `cost` is of 1,000 queries, in one currency for all runs of the project."""

    tried = serializers.CharField(max_length=4_000, required=False, allow_blank=True, default="")
    commit = serializers.CharField(max_length=LONGEST_COMMIT, required=False, allow_blank=True, default="")
    configuration = serializers.CharField(max_length=8_000, required=False, allow_blank=True, default="")
    verdict = serializers.CharField(max_length=4_000, required=False, allow_blank=True, default="")
    cost = serializers.DecimalField(
        max_digits=12, decimal_places=4, min_value=0, required=False, allow_null=True, default=None
    )


class RunNoteSerializer(serializers.ModelSerializer[RunNote]):
    """The ledger entry of a run."""

    run = serializers.IntegerField(source="run_id", read_only=True)

    class Meta:
        model = RunNote
        fields = ("run", "tried", "commit", "configuration", "verdict", "cost", "written_at")
        read_only_fields: ClassVar = fields
