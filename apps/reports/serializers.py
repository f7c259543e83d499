"""Reports on bias, stability and hard negatives in the API: the request, and the report."""

from typing import Any, ClassVar

from rest_framework import serializers

from apps.agreement.selectors.agreement import names_for
from apps.common.web.api import next_page
from apps.common.web.forms import ChoiceField, KeyField
from apps.evaluation.rules import SPLITS
from apps.goldsets.enums import Split
from apps.metrics.measures.registry import DEFAULT_MEASURES
from apps.reports.models import BiasReport, NegativesReport, StabilityReport
from apps.reports.rules import DEEPEST_REPORT, MOST_FIRST, MOST_RUNS
from apps.reports.selectors.analyses import AnyReport

USUAL_DEPTH = 100
REQUEST_FIELDS = ("id", "version", "version_digest", "split", "runs", "measures")
RESULT_FIELDS = ("result", "job", "requested_at", "computed_at")


class ReportRequestSerializer(serializers.Serializer[Any]):
    """At least two runs, a split of a version, and measures."""

    runs = serializers.ListField(child=KeyField(), min_length=2, max_length=100)
    version = KeyField()
    split = ChoiceField(choices=list(SPLITS), default=Split.DEV, allow_blank=True)
    measures = serializers.CharField(max_length=400, default=DEFAULT_MEASURES)


class BiasRequestSerializer(ReportRequestSerializer):
    """At least two runs. `depth` decides which runs found a pair.

    0: the runs recorded in the pools. Above 0: every run that ranks the pair in its top `depth`.
    """

    depth = serializers.IntegerField(min_value=0, max_value=DEEPEST_REPORT, default=0)


class StabilityRequestSerializer(ReportRequestSerializer):
    """At least two runs, at most as many as a stability report compares."""

    runs = serializers.ListField(child=KeyField(), min_length=2, max_length=MOST_RUNS)


class NegativesRequestSerializer(serializers.Serializer[Any]):
    """The baseline that finds the hard negatives, among its first `depth` results."""

    run = KeyField()
    depth = serializers.IntegerField(min_value=1, max_value=DEEPEST_REPORT, default=USUAL_DEPTH)


class ReportSerializer(serializers.ModelSerializer[AnyReport]):
    """`result` is empty until `computed_at` is set; until then follow `job`."""

    version = serializers.IntegerField(source="version_id", read_only=True)
    version_digest = serializers.CharField(source="version.digest", read_only=True)
    job = serializers.IntegerField(source="job_id", read_only=True, allow_null=True)
    result = serializers.SerializerMethodField()


class BiasReportSerializer(ReportSerializer[BiasReport]):
    """`result` is empty until `computed_at` is set; until then follow `job`. It leaves out what to judge first."""

    class Meta:
        model = BiasReport
        fields = (*REQUEST_FIELDS, "depth", *RESULT_FIELDS)
        read_only_fields: ClassVar = fields

    def get_result(self, report: BiasReport) -> dict[str, Any]:
        return {key: value for key, value in report.result.items() if key != "first"}


class StabilityReportSerializer(ReportSerializer[StabilityReport]):
    """`result` is empty until `computed_at` is set; until then follow `job`.

    Its `people` are names for leads and letters for others; `grounds` and `between` refer to them by index.
    """

    class Meta:
        model = StabilityReport
        fields = (*REQUEST_FIELDS, *RESULT_FIELDS)
        read_only_fields: ClassVar = fields

    def get_result(self, report: StabilityReport) -> dict[str, Any]:
        if not report.is_computed:
            return {}
        names = names_for(self.context["member"], report.result["people"])
        return {**report.result, "people": [names[person] for person in report.result["people"]]}


class NegativesReportSerializer(ReportSerializer[NegativesReport]):
    """`result` is empty until `computed_at` is set; until then follow `job`. It names no query and no passage."""

    class Meta:
        model = NegativesReport
        fields = (*REQUEST_FIELDS, "baseline", "depth", *RESULT_FIELDS)
        read_only_fields: ClassVar = fields

    def get_result(self, report: NegativesReport) -> dict[str, Any]:
        return dict(report.result)


class FirstInput(serializers.Serializer[Any]):
    """How many pairs to judge first, and how their pool is called; without a name Karat makes one."""

    most = serializers.IntegerField(min_value=1, max_value=MOST_FIRST)
    name = serializers.CharField(max_length=120, required=False, allow_blank=True, default="")


class FirstPairOut(serializers.Serializer[Any]):
    """A query and a passage that nobody has judged. `swing` is how far its grade could move two of the runs apart."""

    query_id = serializers.CharField()
    block_id = serializers.CharField()
    swing = serializers.FloatField()
    is_planned = serializers.BooleanField(help_text="Whether it is in a round already; it is then left out of a pool.")


class FirstPageOut(serializers.Serializer[Any]):
    """`weighing` is the measure whose weights decide the order, `count` the number of all pairs."""

    weighing = serializers.CharField()
    count = serializers.IntegerField()
    results = FirstPairOut(many=True)
    next = next_page()
