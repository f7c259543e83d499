from typing import Any, ClassVar

from rest_framework import serializers

from apps.agreement.selectors.agreement import names_for
from apps.evaluation.rules import DEFAULT_MEASURES, SPLITS
from apps.goldsets.enums import Split
from apps.reports.models import BiasReport, StabilityReport
from apps.reports.rules import DEEPEST_REPORT, MOST_RUNS
from apps.reports.selectors.analyses import AnyReport

ASKED = ("id", "version", "version_digest", "split", "runs", "measures")


FOUND = ("result", "job", "requested_at", "computed_at")


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
        names = names_for(self.context["member"], report.result["people"])
        return {**report.result, "people": [names[person] for person in report.result["people"]]}
