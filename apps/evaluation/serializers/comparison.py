"""Comparisons and the ledger as JSON."""

from typing import Any, ClassVar

from rest_framework import serializers

from apps.evaluation.models import RunNote
from apps.evaluation.rules import LONGEST_COMMIT
from apps.evaluation.selectors.comparisons import Pairing
from apps.metrics.comparison import Row
from apps.metrics.scorecard import Beside
from apps.metrics.statistics.paired_tests import Statistic
from apps.metrics.statistics.significance import WinTally


class StatisticSerializer(serializers.Serializer[Any]):
    """A test statistic, its two-sided p (not corrected), and the differences it rests on."""

    value = serializers.FloatField()
    p = serializers.FloatField()
    n = serializers.IntegerField()


class DifferenceSerializer(serializers.Serializer[Any]):
    """One measure of a comparison; a null says that it cannot be told.

    `interval` and `bca` are 95 %. `holm` is `p` corrected over all measures of the comparison. `rests_on` counts the
    queries that differ where they are a handful among many equal ones: the interval is then not safe, and `sign`, the
    exact sign test (its `value` counts the better ones), stands in. `sign`, `t` and `wilcoxon` are not corrected.
    `detectable` is the smallest difference that `n` queries show four times in five at the 5 % level, `queries_needed`
    how many would show the difference seen.
    """

    measure = serializers.CharField()
    baseline = serializers.FloatField()
    candidate = serializers.FloatField()
    difference = serializers.FloatField()
    interval = serializers.ListField(child=serializers.FloatField(), allow_null=True)
    bca = serializers.ListField(child=serializers.FloatField(), allow_null=True)
    p = serializers.FloatField()
    holm = serializers.FloatField()
    n = serializers.IntegerField()
    better = serializers.IntegerField()
    equal = serializers.IntegerField()
    worse = serializers.IntegerField()
    rests_on = serializers.IntegerField(allow_null=True)
    sign = StatisticSerializer(allow_null=True)
    verdict = serializers.CharField()
    regressions = serializers.IntegerField()
    unexplained = serializers.IntegerField()
    t = StatisticSerializer(allow_null=True)
    wilcoxon = StatisticSerializer(allow_null=True)
    effect = serializers.FloatField(allow_null=True)
    effect_interval = serializers.ListField(child=serializers.FloatField(), allow_null=True)
    detectable = serializers.FloatField(allow_null=True)
    queries_needed = serializers.IntegerField(allow_null=True)


class ComparisonSerializer(serializers.Serializer[Any]):
    """Two evaluations compared. `verdict` is the sentence of the first measure; no query is named."""

    baseline = serializers.IntegerField()
    candidate = serializers.IntegerField()
    version = serializers.IntegerField()
    version_digest = serializers.CharField()
    split = serializers.CharField(allow_blank=True)
    seed = serializers.IntegerField()
    verdict = serializers.CharField()
    measures = DifferenceSerializer(many=True)


def comparison_facts(pairing: Pairing) -> dict[str, Any]:
    """What `ComparisonSerializer` writes; the pair shares a measure at least."""
    candidate = pairing.candidate
    return {
        "baseline": pairing.baseline.pk,
        "candidate": candidate.pk,
        "version": candidate.version_id,
        "version_digest": candidate.version.digest,
        "split": candidate.split,
        "seed": candidate.seed,
        "verdict": pairing.verdict(pairing.rows[0]),
        "measures": [_difference(pairing, row) for row in pairing.rows],
    }


def _difference(pairing: Pairing, row: Row) -> dict[str, Any]:
    found, fell = row.difference, pairing.regressions(row.measure)
    return {
        "measure": row.measure,
        "baseline": row.baseline,
        "candidate": row.candidate,
        "difference": found.mean,
        "interval": found.interval,
        "bca": found.bca,
        "p": found.p,
        "holm": found.holm,
        "n": found.n,
        "better": found.better,
        "equal": found.equal,
        "worse": found.worse,
        "rests_on": found.rests_on,
        "sign": _sign(found.tally),
        "verdict": row.verdict,
        "regressions": fell.total,
        "unexplained": fell.unexplained,
        **_beside(pairing.beside[row.measure]),
    }


def _beside(beside: Beside) -> dict[str, Any]:
    tests = beside.tests
    return {
        "t": _statistic(tests.t),
        "wilcoxon": _statistic(tests.wilcoxon),
        "effect": tests.effect,
        "effect_interval": tests.effect_interval,
        "detectable": beside.detectable,
        "queries_needed": beside.needed,
    }


def _sign(found: WinTally) -> dict[str, Any] | None:
    return {"value": found.better, "p": found.sign_p, "n": found.moved} if found.moved else None


def _statistic(found: Statistic | None) -> dict[str, Any] | None:
    return found._asdict() if found else None


class LedgerSerializer(serializers.Serializer[Any]):
    """What is said of a run. `cost` is of 1,000 queries, in one currency for all runs of the project."""

    tried = serializers.CharField(max_length=4_000, required=False, allow_blank=True, default="")
    commit = serializers.CharField(max_length=LONGEST_COMMIT, required=False, allow_blank=True, default="")
    configuration = serializers.CharField(max_length=8_000, required=False, allow_blank=True, default="")
    verdict = serializers.CharField(max_length=4_000, required=False, allow_blank=True, default="")
    cost = serializers.DecimalField(
        max_digits=12, decimal_places=4, min_value=0, required=False, allow_null=True, default=None
    )


class RunNoteSerializer(serializers.ModelSerializer[RunNote]):
    """The ledger's line of a run."""

    run = serializers.IntegerField(source="run_id", read_only=True)

    class Meta:
        model = RunNote
        fields = ("run", "tried", "commit", "configuration", "verdict", "cost", "written_at")
        read_only_fields: ClassVar = fields
