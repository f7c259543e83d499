"""Bias reports and negatives as machines read them."""

from typing import Any, ClassVar

from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.edges.api import ProjectAPIView
from apps.accounts.enums import Role, Scope
from apps.common.web.negotiation import OneForm
from apps.common.web.paging import only_known
from apps.goldsets.enums import Split
from apps.reports.actions import analyses
from apps.reports.edges.negatives import file_response, visible_version
from apps.reports.models import BiasReport
from apps.reports.selectors import reports
from apps.reports.selectors.negatives import CONTENT_TYPES
from apps.reports.serializers import BiasReportSerializer, BiasRequestSerializer

ASKED = ("run", "hard", "easy", "depth", "seed")


class BiasReportList(ProjectAPIView):
    """Asking for a bias report."""

    roles: ClassVar = {"POST": (Role.LEAD,)}
    scopes: ClassVar = {"POST": Scope.RUNS_WRITE}

    @extend_schema(
        operation_id="bias_reports_request", request=BiasRequestSerializer, responses={202: BiasReportSerializer}
    )
    def post(self, request: Request, **ids: Any) -> Response:
        asked = BiasRequestSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        values = asked.validated_data
        report = analyses.request_bias_report(
            project=self.project,
            run_ids=values["runs"],
            version_id=values["version"],
            split=values["split"],
            measures=values["measures"],
            depth=values["depth"],
            actor=self.member.user,
            at=timezone.now(),
        )
        return Response(BiasReportSerializer(report).data, status=200 if report.is_computed else 202)


class BiasReportDetail(ProjectAPIView):
    """One bias report; no query is named."""

    roles: ClassVar = {"GET": (Role.LEAD, Role.VIEWER)}
    scopes: ClassVar = {"GET": Scope.RUNS_READ}

    @extend_schema(operation_id="bias_reports_read", responses=BiasReportSerializer)
    def get(self, request: Request, pk: int, **ids: Any) -> Response:
        return Response(BiasReportSerializer(reports.report_in(BiasReport, self.project, pk)).data)


class Negatives(ProjectAPIView):
    """Hard and easy negatives of a version's queries, streamed. Dev unless a lead names another side."""

    roles: ClassVar = {"GET": ()}
    scopes: ClassVar = {"GET": Scope.VERSIONS_READ}
    content_negotiation_class = OneForm

    @extend_schema(
        operation_id="negatives_export",
        parameters=[
            OpenApiParameter("format", str, enum=list(CONTENT_TYPES), default="jsonl"),
            OpenApiParameter("split", str, enum=["", *Split.values], default="dev"),
            *(OpenApiParameter(name, int) for name in ASKED),
        ],
        responses={(200, "application/x-ndjson"): OpenApiTypes.BINARY, (200, "text/csv"): OpenApiTypes.BINARY},
    )
    def get(self, request: Request, version_pk: int, **ids: Any):
        only_known(request.query_params, {"format", "split", *ASKED})
        return file_response(self.member, visible_version(self.member, version_pk), request.query_params)
