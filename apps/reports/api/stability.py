"""Stability reports as machines read them."""

from typing import Any, ClassVar

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.edges.api import ProjectAPIView
from apps.accounts.enums import Role, Scope
from apps.agreement.selectors.agreement import names_for
from apps.reports import rules
from apps.reports.actions import analyses
from apps.reports.models import StabilityReport
from apps.reports.rules import StabilityHidden
from apps.reports.selectors import reports
from apps.reports.serializers import StabilityReportSerializer, StabilityRequestSerializer


class StabilityReportList(ProjectAPIView):
    """Asking whether the order of runs holds under each annotator's grades."""

    roles: ClassVar = {"POST": (Role.LEAD,)}
    scopes: ClassVar = {"POST": Scope.RUNS_WRITE}

    @extend_schema(
        operation_id="stability_reports_request",
        request=StabilityRequestSerializer,
        responses={202: StabilityReportSerializer},
    )
    def post(self, request: Request, **ids: Any) -> Response:
        asked = StabilityRequestSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        values = asked.validated_data
        report = analyses.request_stability_report(
            project=self.project,
            run_ids=values["runs"],
            version_id=values["version"],
            split=values["split"],
            measures=values["measures"],
            actor=self.member.user,
            at=timezone.now(),
        )
        return Response(written(self, report), status=200 if report.is_computed else 202)


class StabilityReportDetail(ProjectAPIView):
    """One stability report. Leads read the names of people, others letters."""

    roles: ClassVar = {"GET": (Role.LEAD, Role.VIEWER)}
    scopes: ClassVar = {"GET": Scope.RUNS_READ}

    @extend_schema(operation_id="stability_reports_read", responses=StabilityReportSerializer)
    def get(self, request: Request, pk: int, **ids: Any) -> Response:
        report = reports.report_in(StabilityReport, self.project, pk)
        if reason := rules.people_refusal(self.member, report.version):
            raise StabilityHidden(reason, code="round_open")
        return Response(written(self, report))


def written(view: ProjectAPIView, report: StabilityReport) -> dict[str, Any]:
    names = names_for(view.member, report.result.get("people", []))
    return StabilityReportSerializer(report, context={"names": names}).data
