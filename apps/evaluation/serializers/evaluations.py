"""Evaluations, comparisons and the ledger of runs as JSON."""

from typing import Any, ClassVar

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from apps.common.web.api import EstimateSerializer
from apps.common.web.forms import ChoiceField, KeyField
from apps.evaluation.models import Evaluation, RunNote, Score
from apps.evaluation.rules import LONGEST_COMMIT, SPLITS, sealed_words
from apps.evaluation.selectors.comparisons import EvaluationPair
from apps.evaluation.selectors.rankings import overlap_of, sampled_precision, version_queries
from apps.goldsets.enums import Split
from apps.goldsets.selectors.versions import looks_at_test
from apps.metrics.comparison import MeasureComparison, is_lower_better
from apps.metrics.estimate import Estimate
from apps.metrics.expected.rules import BY_GRADES
from apps.metrics.statistics.families import Plan
from apps.metrics.statistics.significance import DEFAULT_SEED, Correction


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


class EvidenceSerializer(serializers.Serializer[Any]):
    """The evidence for a difference that may be looked at after every query; 20 settle it.

    `evidence` is that of all queries, `strongest` the strongest at any number of them, `strongest_holm` the same
    corrected over all measures of the comparison. `settled_after` is the number of queries after which it was 20.
    """

    evidence = serializers.FloatField()
    strongest = serializers.FloatField()
    strongest_holm = serializers.FloatField()
    settled_after = serializers.IntegerField(allow_null=True)
    is_settled = serializers.BooleanField()


class MeasureComparisonSerializer(serializers.Serializer[Any]):
    """One measure of a comparison, candidate minus baseline; null means not defined.

    `difference` has the interval. `p_holm` is `p` corrected over all measures of the comparison. `rests_on` counts the
    queries that differ where they are a handful among many equal ones; `sign` is then the exact sign test, whose
    `value` counts the better ones.
    `sign`, `t` and `wilcoxon` are not corrected. `detectable_difference` is the smallest difference that `n` queries
    detect with a power of 80 % at the 5 % level, `queries_needed` the number of queries that would detect the
    difference seen.
    """

    measure = serializers.CharField()
    baseline = serializers.FloatField()
    candidate = serializers.FloatField()
    difference = EstimateSerializer()
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
    anytime = EvidenceSerializer()
    effect_size = EstimateSerializer()
    detectable_difference = serializers.FloatField(allow_null=True)
    queries_needed = serializers.IntegerField(allow_null=True)
    regressions = serializers.IntegerField()
    unexplained = serializers.IntegerField()
    p_corrected = serializers.FloatField(
        help_text="What the verdict goes by: by the measure of `family` over its comparisons, by others as `p_holm`."
    )


class PlanSerializer(serializers.Serializer[Plan]):
    """The planned number of queries. `left` are still to come; `decides`: this is the first look at so many."""

    queries = serializers.IntegerField()
    left = serializers.IntegerField()
    decides = serializers.BooleanField()


class ComparedSerializer(serializers.Serializer[Any]):
    """One of all comparisons by a measure on this version; `evidence` is the strongest, alone and corrected."""

    place = serializers.IntegerField(source="standing.place")
    baseline = serializers.IntegerField()
    candidate = serializers.IntegerField()
    n = serializers.IntegerField(source="standing.difference.n")
    evidence = serializers.FloatField(source="standing.evidence.strongest")
    evidence_corrected = serializers.FloatField(source="standing.evidence.strongest_corrected")
    p = serializers.FloatField(source="standing.difference.p")
    p_corrected = serializers.FloatField(source="standing.corrected")
    verdict = serializers.CharField()


class FamilySerializer(serializers.Serializer[Any]):
    """All comparisons by the measure on this version, over which p and evidence are corrected; the strongest first."""

    measure = serializers.CharField()
    correction = ChoiceField(choices=[(one.value, one.words) for one in Correction])
    plan = PlanSerializer(allow_null=True)
    comparisons = ComparedSerializer(many=True)


class OverlapSerializer(serializers.Serializer[Any]):
    """Rank-biased overlap of two runs, the mean over the `n` queries that either answers: 1 for the same rankings.

    `value` is extrapolated; `low` and `high` are what it can be however the rankings go on below the first `depth`.
    """

    value = serializers.FloatField()
    low = serializers.FloatField()
    high = serializers.FloatField()
    n = serializers.IntegerField()
    p = serializers.FloatField()
    depth = serializers.IntegerField()


class ComparisonSerializer(serializers.Serializer[Any]):
    """Two evaluations compared, without queries. `verdict` is the sentence of the measure asked for, else of the first.

    `overlap` says how alike the two rank; null for a comparison by text or on Q&As.
    """

    baseline = serializers.IntegerField()
    candidate = serializers.IntegerField()
    version = serializers.IntegerField()
    version_digest = serializers.CharField()
    split = serializers.CharField(allow_blank=True)
    hit = serializers.CharField(allow_blank=True)
    seed = serializers.IntegerField()
    verdict = serializers.CharField()
    measures = MeasureComparisonSerializer(many=True)
    family = FamilySerializer()
    overlap = OverlapSerializer(allow_null=True)


def comparison_facts(pair: EvaluationPair, measure: str) -> dict[str, Any]:
    """The values for `ComparisonSerializer`; the pair shares the measure."""
    candidate, measures = pair.candidate, pair.among(measure).measures
    return {
        "baseline": pair.baseline.pk,
        "candidate": candidate.pk,
        "version": candidate.version_id,
        "version_digest": candidate.version.digest,
        "split": candidate.split,
        "hit": candidate.hit,
        "seed": candidate.seed,
        "verdict": pair.verdict(pair.judged(measure)),
        "measures": [_measure(pair, one) for one in measures],
        "family": _family(pair, measure),
        "overlap": _overlap(pair),
    }


def _family(pair: EvaluationPair, measure: str) -> dict[str, Any]:
    found, turned = pair.family(measure), is_lower_better(measure)
    rows = [
        {
            "baseline": row.evaluations[0],
            "candidate": row.evaluations[1],
            "standing": row.standing,
            "verdict": row.standing.side(is_lower_better=turned),
        }
        for row in found.rows
    ]
    plan = found.shown.plan
    return {"measure": measure, "correction": pair.correction, "plan": plan, "comparisons": rows}


def _overlap(pair: EvaluationPair) -> dict[str, Any] | None:
    """How alike the two runs rank the scored queries; None by text and on Q&As, and where neither has a result."""
    if pair.candidate.hit:
        return None
    scored = set(pair.candidate.query_ids)
    queries = version_queries(pair.candidate.version, pair.candidate.split)
    found = overlap_of(pair.baseline.run, pair.candidate.run, [one for one in queries if one.outside_id in scored])
    return found._asdict() if found else None


def _measure(pair: EvaluationPair, one: MeasureComparison) -> dict[str, Any]:
    fell = pair.regressions(one.measure)
    return {
        **one.as_json,
        "regressions": fell.total,
        "unexplained": fell.unexplained,
        "p_corrected": one.corrected,
    }


class LedgerSerializer(serializers.Serializer[Any]):
    """Fields of a ledger entry; what is left out stays as it is.

    `cost` is of 1,000 queries, in one currency for all runs of the project.

    `prices` instead: of 1,000 `requests`, 1,000 `input_tokens`, 1,000 `output_tokens`, and of an `hour`; of what the
    run says it used. The cost is worked out of them.
    """

    tried = serializers.CharField(max_length=4_000, required=False, allow_blank=True)
    commit = serializers.CharField(max_length=LONGEST_COMMIT, required=False, allow_blank=True)
    configuration = serializers.CharField(max_length=8_000, required=False, allow_blank=True)
    verdict = serializers.CharField(max_length=4_000, required=False, allow_blank=True)
    cost = serializers.DecimalField(max_digits=12, decimal_places=4, min_value=0, required=False, allow_null=True)
    prices = serializers.DictField(
        child=serializers.DecimalField(max_digits=12, decimal_places=6, min_value=0), required=False
    )
    figures = serializers.DictField(
        child=serializers.FloatField(),
        required=False,
        help_text="Figures measured elsewhere, such as clicks, by name.",
    )


class RunNoteSerializer(serializers.ModelSerializer[RunNote]):
    """The ledger entry of a run."""

    run = serializers.IntegerField(source="run_id", read_only=True)
    prices = serializers.DictField(child=serializers.CharField(), allow_null=True, read_only=True)
    figures = serializers.DictField(child=serializers.FloatField(), allow_null=True, read_only=True)
    cost_from = serializers.ChoiceField(
        choices=["typed", "prices", ""], read_only=True, help_text="Where the cost is from; empty without one."
    )

    class Meta:
        model = RunNote
        fields = (
            "run",
            "tried",
            "commit",
            "configuration",
            "verdict",
            "cost",
            "cost_from",
            "prices",
            "figures",
            "written_at",
        )
        read_only_fields: ClassVar = fields


class RequestSerializer(serializers.Serializer[Any]):
    """A run to score. `split` is dev by default; test, or empty for both, is logged as a look.

    `hit` is a hit rule, by which the run is measured on the version's Q&As, such as `block` or `evidence(share=0.9)`;
    or `text`, by which whatever is returned earns the grades of the passages whose words it holds; empty for the grades
    of the passages that are returned by id.

    `slice` is the kind or the quarter of a slice, such as `canary` or `2026-Q4`, scored as it is now; empty for all of
    the split. Without `measures` they are the usual ones.
    """

    run = KeyField()
    version = KeyField()
    split = ChoiceField(choices=list(SPLITS), default=Split.DEV, allow_blank=True)
    hit = serializers.CharField(max_length=60, default=BY_GRADES, allow_blank=True)
    slice = serializers.CharField(max_length=20, default="", allow_blank=True)
    measures = serializers.CharField(max_length=400, default="", allow_blank=True)
    seed = serializers.IntegerField(min_value=0, max_value=2**31 - 1, default=DEFAULT_SEED)


class ScoreSerializer(EstimateSerializer):
    """The mean of a measure over `n` queries; `method` says how its interval was computed.

    `people` has one over queries and annotators, null where one person judged.
    """

    measure = serializers.CharField()
    people = EstimateSerializer(allow_null=True)

    def to_representation(self, score: Score) -> dict[str, Any]:
        summary, people = score.summary, score.people
        return super().to_representation(
            {
                "measure": score.measure,
                **summary.estimate.as_json,
                "people": Estimate.of(summary.mean, people, summary.n, "queries and people") if people else None,
            }
        )


class EvaluationSerializer(serializers.ModelSerializer[Evaluation]):
    """The scores of one run on one version. `scores` is empty until `scored_at` is set; poll `job` until then."""

    run = serializers.IntegerField(source="run_id", read_only=True)
    tag = serializers.CharField(source="run.tag", read_only=True)
    version = serializers.IntegerField(source="version_id", read_only=True)
    version_digest = serializers.CharField(source="version.digest", read_only=True)
    run_digest = serializers.CharField(source="run.digest", read_only=True)
    slice = serializers.CharField(source="slice.name", default=None, read_only=True, allow_null=True)
    job = serializers.IntegerField(source="job_id", read_only=True, allow_null=True)
    scores = ScoreSerializer(many=True, read_only=True)

    class Meta:
        model = Evaluation
        fields: ClassVar[tuple[str, ...]] = (
            "id",
            "run",
            "tag",
            "run_digest",
            "version",
            "version_digest",
            "split",
            "slice",
            "slice_size",
            "hit",
            "measures",
            "seed",
            "counts",
            "scores",
            "job",
            "requested_at",
            "scored_at",
        )
        read_only_fields: ClassVar[tuple[str, ...]] = fields


class KindScoreSerializer(EstimateSerializer):
    """The mean of a measure over the questions of a kind."""

    measure = serializers.CharField()


class KindSerializer(serializers.Serializer[Any]):
    """The questions of one kind: `field` is kind, domain, difficulty or source, `name` its value."""

    field = serializers.CharField()
    name = serializers.CharField()
    n = serializers.IntegerField()
    scores = KindScoreSerializer(many=True)


class SampledPrecisionSerializer(EstimateSerializer):
    """P@k of a run over `n` sampled pairs, by Hájek's estimator."""

    measure = serializers.CharField()


class EvaluationDetailSerializer(EvaluationSerializer):
    """The same, with the number of looks at the sealed test split of the version.

    `sealed` says why one that was scored on test has no scores and never will; empty for all others.

    `sampled` is P@k as estimated from a random sample of pairs, where a pool of the version is one with this run; else
    null.

    `kinds` breaks scores on Q&As down by kind of question, without kinds of fewer than five; empty by grades. A
    question can be of several kinds.
    """

    test_looks = serializers.SerializerMethodField()
    kinds = serializers.SerializerMethodField()
    sealed = serializers.SerializerMethodField()
    sampled = serializers.SerializerMethodField()

    class Meta(EvaluationSerializer.Meta):
        fields = (*EvaluationSerializer.Meta.fields, "kinds", "sealed", "sampled", "test_looks")
        read_only_fields: ClassVar = fields

    def get_test_looks(self, evaluation: Evaluation) -> int:
        return looks_at_test(evaluation.version).number

    @extend_schema_field(SampledPrecisionSerializer(allow_null=True))
    def get_sampled(self, evaluation: Evaluation) -> dict[str, Any] | None:
        found = sampled_precision(evaluation) if evaluation.sealed_by is None and evaluation.is_scored else None
        return {"measure": found.measure, **found.estimate.as_json} if found else None

    def get_sealed(self, evaluation: Evaluation) -> str:
        return sealed_words(evaluation)

    @extend_schema_field(KindSerializer(many=True))
    def get_kinds(self, evaluation: Evaluation) -> list[dict[str, Any]]:
        return self.context["kinds"]
