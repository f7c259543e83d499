"""Analyses as machines request and read them: bias and stability reports."""

from typing import Any, ClassVar

from django.utils import timezone
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.edges.api import ProjectAPIView
from apps.accounts.enums import Role, Scope
from apps.reports.actions.analyses import request_report
from apps.reports.models import BiasReport, Report, StabilityReport
from apps.reports.selectors.analyses import visible_report
from apps.reports.serializers import (
    BiasReportSerializer,
    BiasRequestSerializer,
    ReportRequestSerializer,
    ReportSerializer,
    StabilityReportSerializer,
    StabilityRequestSerializer,
)


class ReportList(ProjectAPIView):
    """Asking for a report of one kind."""

    roles: ClassVar = {"POST": (Role.LEAD,)}
    scopes: ClassVar = {"POST": Scope.RUNS_WRITE}
    kind: ClassVar[type[Report]]
    asks: ClassVar[type[ReportRequestSerializer]]
    answers: ClassVar[type[ReportSerializer[Any]]]

    def post(self, request: Request, **ids: Any) -> Response:
        asked = self.asks(data=request.data)
        asked.is_valid(raise_exception=True)
        values = dict(asked.validated_data)
        report = request_report(
            kind=self.kind,
            project=self.project,
            run_ids=values.pop("runs"),
            version_id=values.pop("version"),
            **values,
            actor=self.member.user,
            at=timezone.now(),
        )
        answer = self.answers(report, context={"member": self.member})
        return Response(answer.data, status=200 if report.is_computed else 202)


class ReportDetail(ProjectAPIView):
    """One report of one kind."""

    roles: ClassVar = {"GET": (Role.LEAD, Role.VIEWER)}
    scopes: ClassVar = {"GET": Scope.RUNS_READ}
    kind: ClassVar[type[Report]]
    answers: ClassVar[type[ReportSerializer[Any]]]

    def get(self, request: Request, pk: int, **ids: Any) -> Response:
        report = visible_report(self.kind, self.member, pk)
        return Response(self.answers(report, context={"member": self.member}).data)


@extend_schema_view(
    post=extend_schema(
        operation_id="bias_reports_request", request=BiasRequestSerializer, responses={202: BiasReportSerializer}
    )
)
class BiasReportList(ReportList):
    """Asking for a bias report."""

    kind, asks, answers = BiasReport, BiasRequestSerializer, BiasReportSerializer


@extend_schema_view(get=extend_schema(operation_id="bias_reports_read", responses=BiasReportSerializer))
class BiasReportDetail(ReportDetail):
    """One bias report; no query is named."""

    kind, answers = BiasReport, BiasReportSerializer


@extend_schema_view(
    post=extend_schema(
        operation_id="stability_reports_request",
        request=StabilityRequestSerializer,
        responses={202: StabilityReportSerializer},
    )
)
class StabilityReportList(ReportList):
    """Asking whether the order of runs holds under each annotator's grades."""

    kind, asks, answers = StabilityReport, StabilityRequestSerializer, StabilityReportSerializer


@extend_schema_view(get=extend_schema(operation_id="stability_reports_read", responses=StabilityReportSerializer))
class StabilityReportDetail(ReportDetail):
    """One stability report. Leads read the names of people, others letters."""

    kind, answers = StabilityReport, StabilityReportSerializer
