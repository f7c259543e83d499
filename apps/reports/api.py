"""Reports over the API: those of scores and of a version as files, bias and stability, negatives and their effect."""

from typing import Any, ClassVar

from django.http import HttpResponse
from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.access.api import RunsAPIView, VersionsAPIView
from apps.accounts.enums import Role
from apps.common.errors import Forbidden
from apps.common.web.api import PAGING, OneForm, given_in
from apps.common.web.paging import cut_list, only_known
from apps.evaluation.actions.scoring import EvaluationRefused
from apps.evaluation.serializers.drops import ChosenPoolOut
from apps.goldsets.access import open_test
from apps.goldsets.enums import Split
from apps.goldsets.rules import blind_refusal
from apps.reports.actions import choose_first, measure_negatives, request_report
from apps.reports.models import BiasReport, NegativesReport, Report, StabilityReport
from apps.reports.presenters import documents
from apps.reports.presenters.documents import FORMS, HTML
from apps.reports.presenters.negatives import file_response, visible_version
from apps.reports.rules import STILL_COMPUTED
from apps.reports.selectors import version_facts
from apps.reports.selectors.analyses import reports_on, visible_report
from apps.reports.selectors.negatives import CONTENT_TYPES
from apps.reports.serializers import (
    BiasReportSerializer,
    BiasRequestSerializer,
    FirstInput,
    FirstPageOut,
    NegativesReportSerializer,
    NegativesRequestSerializer,
    ReportRequestSerializer,
    ReportSerializer,
    StabilityReportSerializer,
    StabilityRequestSerializer,
)

FORMAT = OpenApiParameter("format", str, enum=list(FORMS), default=HTML)
FILES = {(200, "text/html"): OpenApiTypes.BINARY, (200, "text/markdown"): OpenApiTypes.BINARY}
NUMBERS = ("run", "hard", "easy", "depth", "seed")


class ReportView(RunsAPIView):
    """An endpoint that answers with a report. A token sees no more than its owner."""

    roles: ClassVar = {"GET": ()}
    content_negotiation_class = OneForm

    def form(self, request: Request, *known: str) -> str:
        """The requested `format`. Raises ValidationError for another format or an unknown parameter."""
        only_known(request.query_params, {"format", *known})
        form = request.query_params.get("format", HTML)
        if form not in FORMS:
            raise ValidationError({"format": f"One of: {', '.join(FORMS)}."})
        return form


class EvaluationReport(ReportView):
    """One run on one version, as a file."""

    @extend_schema(operation_id="evaluation_report_read", parameters=[FORMAT], responses=FILES)
    def get(self, request: Request, pk: int, **ids: Any) -> HttpResponse:
        form = self.form(request)
        return documents.file_of(documents.evaluation_document(self.member, pk), form)


class ComparisonReport(ReportView):
    """Two evaluations of one split of a version, as a file; `measure` comes first."""

    @extend_schema(
        operation_id="comparison_report_read",
        parameters=[FORMAT, OpenApiParameter("measure", str)],
        responses=FILES,
    )
    def get(self, request: Request, baseline: int, candidate: int, **ids: Any) -> HttpResponse:
        form, measure = self.form(request, "measure"), request.query_params.get("measure", "")
        document = documents.comparison_document(self.member, baseline, candidate, measure)
        return documents.file_of(document, form)


class VersionReport(ReportView):
    """A gold version and the runs on it, as a file; only leads may read one that is not released."""

    @extend_schema(operation_id="version_report_read", parameters=[FORMAT], responses=FILES)
    def get(self, request: Request, version_pk: int, **ids: Any) -> HttpResponse:
        form = self.form(request)
        return documents.file_of(documents.version_document(self.member, version_pk), form)


class ReportList(RunsAPIView):
    """Requests for one kind of report."""

    roles: ClassVar = {"POST": (Role.LEAD,)}
    kind: ClassVar[type[Report]]
    request_serializer: ClassVar[type[ReportRequestSerializer]]
    report_serializer: ClassVar[type[ReportSerializer[Any]]]

    def post(self, request: Request, **ids: Any) -> Response:
        values = given_in(request.data, self.request_serializer)
        report = request_report(
            kind=self.kind,
            project=self.project,
            run_ids=values.pop("runs"),
            version_id=values.pop("version"),
            **values,
            actor=self.member.user,
            at=timezone.now(),
        )
        serializer = self.report_serializer(report, context={"member": self.member})
        return Response(serializer.data, status=200 if report.is_computed else 202)


class ReportDetail(RunsAPIView):
    """One report of one kind."""

    roles: ClassVar = {"GET": (Role.LEAD, Role.VIEWER)}
    kind: ClassVar[type[Report]]
    report_serializer: ClassVar[type[ReportSerializer[Any]]]

    def get(self, request: Request, pk: int, **ids: Any) -> Response:
        report = visible_report(self.kind, self.member, pk)
        return Response(self.report_serializer(report, context={"member": self.member}).data)


@extend_schema_view(
    post=extend_schema(
        operation_id="bias_reports_request", request=BiasRequestSerializer, responses={202: BiasReportSerializer}
    )
)
class BiasReportList(ReportList):
    """Request a bias report."""

    kind = BiasReport
    request_serializer, report_serializer = BiasRequestSerializer, BiasReportSerializer


@extend_schema_view(get=extend_schema(operation_id="bias_reports_read", responses=BiasReportSerializer))
class BiasReportDetail(ReportDetail):
    """One bias report; no query is named."""

    kind, report_serializer = BiasReport, BiasReportSerializer


@extend_schema_view(
    post=extend_schema(
        operation_id="stability_reports_request",
        request=StabilityRequestSerializer,
        responses={202: StabilityReportSerializer},
    )
)
class StabilityReportList(ReportList):
    """Request a stability report: does the order of runs stay the same under each annotator's grades?"""

    kind = StabilityReport
    request_serializer, report_serializer = StabilityRequestSerializer, StabilityReportSerializer


@extend_schema_view(get=extend_schema(operation_id="stability_reports_read", responses=StabilityReportSerializer))
class StabilityReportDetail(ReportDetail):
    """One stability report. Leads see the names of people, others letters."""

    kind, report_serializer = StabilityReport, StabilityReportSerializer


class FirstToJudge(RunsAPIView):
    """The unjudged pairs of a bias report that could change the order of its runs most, most first.

    A pool of the first of them is made here; pairs that are in a round already are left out.
    """

    roles: ClassVar = {"GET": (Role.LEAD,), "POST": (Role.LEAD,)}

    @extend_schema(
        operation_id="bias_reports_first",
        parameters=PAGING,
        responses=FirstPageOut,
    )
    def get(self, request: Request, pk: int, **ids: Any) -> Response:
        report = visible_report(BiasReport, self.member, pk)
        only_known(request.query_params, {"after", "limit"})
        if not report.is_computed:
            raise EvaluationRefused(STILL_COMPUTED, code="first_refused")
        first = report.result["first"]
        page = cut_list(first["pairs"], request.query_params)
        if page.rows and report.split != Split.DEV:
            open_test(report.version, self.member, "what to judge first")
        pairs = version_facts.named(report, page.rows)
        found = {"weighing": first["weighing"], "count": len(first["pairs"]), "results": pairs, "next": page.next}
        return Response(FirstPageOut(found).data)

    @extend_schema(operation_id="bias_reports_judge_first", request=FirstInput, responses={201: ChosenPoolOut})
    def post(self, request: Request, pk: int, **ids: Any) -> Response:
        report = visible_report(BiasReport, self.member, pk)
        given = given_in(request.data, FirstInput)
        pool = choose_first(report=report, actor=self.member.user, at=timezone.now(), **given)
        return Response(ChosenPoolOut(pool).data, status=201)


class NegativeEffects(RunsAPIView):
    """Scores of runs without the hard negatives of a version and with them, a report for each split."""

    roles: ClassVar = {"GET": (), "POST": (Role.LEAD,)}

    @extend_schema(operation_id="negatives_measured", responses=NegativesReportSerializer(many=True))
    def get(self, request: Request, version_pk: int, **ids: Any) -> Response:
        """Every report of the version, newest first."""
        version = visible_version(self.member, version_pk)
        if reason := blind_refusal(self.member):
            raise Forbidden(reason, code="still_judging")
        return Response(NegativesReportSerializer(reports_on(NegativesReport, version), many=True).data)

    @extend_schema(
        operation_id="negatives_measure",
        request=NegativesRequestSerializer,
        responses={202: NegativesReportSerializer(many=True)},
    )
    def post(self, request: Request, version_pk: int, **ids: Any) -> Response:
        """Request a report for each split with grades; the same request returns the existing ones."""
        version = visible_version(self.member, version_pk)
        given = given_in(request.data, NegativesRequestSerializer)
        reports = measure_negatives(
            version=version,
            baseline_id=given["run"],
            depth=given["depth"],
            actor=self.member.user,
            at=timezone.now(),
        )
        status = 200 if all(report.is_computed for report in reports) else 202
        return Response(NegativesReportSerializer(reports, many=True).data, status=status)


class Negatives(VersionsAPIView):
    """Hard and easy negatives of a version's queries, streamed. The dev split, unless a lead names another."""

    roles: ClassVar = {"GET": ()}
    content_negotiation_class = OneForm

    @extend_schema(
        operation_id="negatives_export",
        parameters=[
            OpenApiParameter("format", str, enum=list(CONTENT_TYPES), default="jsonl"),
            OpenApiParameter("split", str, enum=["", *Split.values], default="dev"),
            *(OpenApiParameter(name, int) for name in NUMBERS),
        ],
        responses={(200, "application/x-ndjson"): OpenApiTypes.BINARY, (200, "text/csv"): OpenApiTypes.BINARY},
    )
    def get(self, request: Request, version_pk: int, **ids: Any):
        only_known(request.query_params, {"format", "split", *NUMBERS})
        return file_response(self.member, visible_version(self.member, version_pk), request.query_params)
