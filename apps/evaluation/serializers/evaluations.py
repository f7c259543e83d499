"""Evaluations as JSON."""

from typing import Any, ClassVar

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from apps.common.web.choices import ChoiceField
from apps.common.web.estimates import EstimateSerializer
from apps.evaluation.models import Evaluation, Score
from apps.evaluation.rules import SPLITS
from apps.goldsets.enums import Split
from apps.goldsets.selectors.versions import looks_at_test
from apps.metrics.estimate import BCA, Estimate
from apps.metrics.expected.rules import BY_GRADES
from apps.metrics.statistics.significance import DEFAULT_SEED


class RequestSerializer(serializers.Serializer[Any]):
    """A run to score. `split` is dev by default; test, or empty for both, is logged as a look.

    `hit` is a hit rule, by which the run is measured on the version's Q&As, such as `block` or `evidence(share=0.9)`;
    empty for its grades. `slice` is the kind or the quarter of a slice, such as `canary` or `2026-Q4`, scored as it is
    now; empty for all of the split. Without `measures` they are the usual ones.
    """

    run = serializers.IntegerField(min_value=1)
    version = serializers.IntegerField(min_value=1)
    split = ChoiceField(choices=list(SPLITS), default=Split.DEV, allow_blank=True)
    hit = serializers.CharField(max_length=60, default=BY_GRADES, allow_blank=True)
    slice = serializers.CharField(max_length=20, default="", allow_blank=True)
    measures = serializers.CharField(max_length=400, default="", allow_blank=True)
    seed = serializers.IntegerField(min_value=0, max_value=2**31 - 1, default=DEFAULT_SEED)


class ScoreSerializer(EstimateSerializer):
    """The mean of a measure over `n` queries; its interval resamples queries, or is Wilson's for a share of Q&As.

    `bca` has the interval corrected for bias and skew, `people` one over queries and annotators, null where one person
    judged.
    """

    measure = serializers.CharField()
    bca = EstimateSerializer()
    people = EstimateSerializer(allow_null=True)

    def to_representation(self, score: Score) -> dict[str, Any]:
        summary, people = score.summary, score.people
        return super().to_representation(
            {
                "measure": score.measure,
                **summary.estimate().as_json,
                "bca": summary._replace(interval=summary.bca).estimate(BCA),
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


class EvaluationDetailSerializer(EvaluationSerializer):
    """The same, with the number of looks at the sealed test split of the version.

    `kinds` breaks scores on Q&As down by kind of question, without kinds of fewer than five; empty by grades. A
    question can be of several kinds.
    """

    test_looks = serializers.SerializerMethodField()
    kinds = serializers.SerializerMethodField()

    class Meta(EvaluationSerializer.Meta):
        fields = (*EvaluationSerializer.Meta.fields, "kinds", "test_looks")
        read_only_fields: ClassVar = fields

    def get_test_looks(self, evaluation: Evaluation) -> int:
        return looks_at_test(evaluation.version).number

    @extend_schema_field(KindSerializer(many=True))
    def get_kinds(self, evaluation: Evaluation) -> list[dict[str, Any]]:
        return self.context["kinds"]


class EvaluationListSerializer(serializers.Serializer[Any]):
    """A page of evaluations, newest first; `next` is the `before` of the page after it."""

    results = EvaluationSerializer(many=True)
    next = serializers.IntegerField(allow_null=True)
