from typing import Any, ClassVar

from rest_framework import serializers

from apps.evaluation.models import Evaluation, Score
from apps.evaluation.rules import DEFAULT_MEASURES, SPLITS
from apps.goldsets.enums import Split
from apps.goldsets.selectors.versions import looks_at_test
from apps.metrics.statistics.significance import DEFAULT_SEED


class RequestSerializer(serializers.Serializer[Any]):
    """A run to be scored. `split` is dev unless it is named: test, or empty for both, is put on record as a look."""

    run = serializers.IntegerField(min_value=1)
    version = serializers.IntegerField(min_value=1)
    split = serializers.ChoiceField(choices=list(SPLITS), default=Split.DEV, allow_blank=True)
    measures = serializers.CharField(max_length=400, default=DEFAULT_MEASURES)
    seed = serializers.IntegerField(min_value=0, max_value=2**31 - 1, default=DEFAULT_SEED)


class ScoreSerializer(serializers.ModelSerializer[Score]):
    """A mean over `n` queries with the ends of its 95 % intervals; null where one is not defined.

    `ci` draws queries again, `bca` is the same corrected for bias and skew, `people` is over queries and those who
    judged.
    """

    class Meta:
        model = Score
        fields = ("measure", "mean", "ci_low", "ci_high", "bca_low", "bca_high", "people_low", "people_high", "n")
        read_only_fields: ClassVar = fields


class EvaluationSerializer(serializers.ModelSerializer[Evaluation]):
    """The scores of one run on one version. `scores` is empty until `scored_at` is set; follow `job` till then."""

    run = serializers.IntegerField(source="run_id", read_only=True)
    tag = serializers.CharField(source="run.tag", read_only=True)
    version = serializers.IntegerField(source="version_id", read_only=True)
    version_digest = serializers.CharField(source="version.digest", read_only=True)
    run_digest = serializers.CharField(source="run.digest", read_only=True)
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
            "measures",
            "seed",
            "counts",
            "scores",
            "job",
            "requested_at",
            "scored_at",
        )
        read_only_fields: ClassVar[tuple[str, ...]] = fields


class EvaluationDetailSerializer(EvaluationSerializer):
    """The same, and how often anybody looked at the sealed test side of the version."""

    test_looks = serializers.SerializerMethodField()

    class Meta(EvaluationSerializer.Meta):
        fields = (*EvaluationSerializer.Meta.fields, "test_looks")
        read_only_fields: ClassVar = fields

    def get_test_looks(self, evaluation: Evaluation) -> int:
        return looks_at_test(evaluation.version).number


class EvaluationListSerializer(serializers.Serializer[Any]):
    """A page of evaluations, newest first; `next` is the `before` of the page after it."""

    results = EvaluationSerializer(many=True)
    next = serializers.IntegerField(allow_null=True)
