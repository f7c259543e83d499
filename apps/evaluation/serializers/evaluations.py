from typing import Any, ClassVar

from rest_framework import serializers

from apps.evaluation.actions import DEFAULT_MEASURES
from apps.evaluation.models import BiasReport, Evaluation, Score, StabilityReport
from apps.evaluation.rules import DEEPEST_REPORT, MOST_RUNS, SPLITS
from apps.evaluation.selectors import AnyReport
from apps.goldsets.enums import Split
from apps.goldsets.selectors import looks_at_test
from apps.metrics.statistics.significance import DEFAULT_SEED

ASKED = ("id", "version", "version_digest", "split", "runs", "measures")
FOUND = ("result", "job", "requested_at", "computed_at")


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


class ReportRequestSerializer(serializers.Serializer[Any]):
    """Two runs or more, and by which measures to look at them on which side of a version."""

    runs = serializers.ListField(child=serializers.IntegerField(min_value=1), min_length=2, max_length=100)
    version = serializers.IntegerField(min_value=1)
    split = serializers.ChoiceField(choices=list(SPLITS), default=Split.DEV, allow_blank=True)
    measures = serializers.CharField(max_length=400, default=DEFAULT_MEASURES)


class BiasRequestSerializer(ReportRequestSerializer):
    """Two runs or more. `depth` 0: who brought a pair in is as the pools say; else every run that ranks it so high."""

    depth = serializers.IntegerField(min_value=0, max_value=DEEPEST_REPORT, default=0)


class StabilityRequestSerializer(ReportRequestSerializer):
    """Two runs or more, whose order is asked about."""

    runs = serializers.ListField(child=serializers.IntegerField(min_value=1), min_length=2, max_length=MOST_RUNS)


class ReportSerializer(serializers.ModelSerializer[AnyReport]):
    """`result` is empty until `computed_at` is set; follow `job` till then."""

    version = serializers.IntegerField(source="version_id", read_only=True)
    version_digest = serializers.CharField(source="version.digest", read_only=True)
    job = serializers.IntegerField(source="job_id", read_only=True, allow_null=True)
    result = serializers.SerializerMethodField()


class BiasReportSerializer(ReportSerializer[BiasReport]):
    """`result` is empty until `computed_at` is set; follow `job` till then. What to judge first is not in it."""

    class Meta:
        model = BiasReport
        fields = (*ASKED, "depth", *FOUND)
        read_only_fields: ClassVar = fields

    def get_result(self, report: BiasReport) -> dict[str, Any]:
        return {key: value for key, value in report.result.items() if key != "first"}


class StabilityReportSerializer(ReportSerializer[StabilityReport]):
    """`result` is empty until `computed_at` is set; follow `job` till then.

    In it `people` are names for leads and letters for others; `grounds` and `between` name them by their places.
    """

    class Meta:
        model = StabilityReport
        fields = (*ASKED, *FOUND)
        read_only_fields: ClassVar = fields

    def get_result(self, report: StabilityReport) -> dict[str, Any]:
        if not report.is_computed:
            return {}
        names = self.context["names"]
        return {**report.result, "people": [names[person] for person in report.result["people"]]}
