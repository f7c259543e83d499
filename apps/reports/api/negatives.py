"""Negatives of a version over the API, and what hard ones do to scores."""

from typing import Any, ClassVar

from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.access.api import ProjectAPIView
from apps.accounts.enums import Role, Scope
from apps.common.errors import Forbidden
from apps.common.web.api import OneForm
from apps.common.web.paging import only_known
from apps.goldsets.enums import Split
from apps.goldsets.rules import blind_refusal
from apps.reports.actions.negatives import measure_negatives
from apps.reports.models import NegativesReport
from apps.reports.presenters.negatives import file_response, visible_version
from apps.reports.selectors.analyses import reports_on
from apps.reports.selectors.negatives import CONTENT_TYPES
from apps.reports.serializers import NegativesReportSerializer, NegativesRequestSerializer


class NegativeEffects(ProjectAPIView):
    """Scores of runs without the hard negatives of a version and with them, a report for each split."""

    roles: ClassVar = {"GET": (), "POST": (Role.LEAD,)}
    scopes: ClassVar = {"GET": Scope.RUNS_READ, "POST": Scope.RUNS_WRITE}

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
        body = NegativesRequestSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        reports = measure_negatives(
            version=version,
            baseline_id=body.validated_data["run"],
            depth=body.validated_data["depth"],
            actor=self.member.user,
            at=timezone.now(),
        )
        status = 200 if all(report.is_computed for report in reports) else 202
        return Response(NegativesReportSerializer(reports, many=True).data, status=status)


NUMBERS = ("run", "hard", "easy", "depth", "seed")


class Negatives(ProjectAPIView):
    """Hard and easy negatives of a version's queries, streamed. The dev split, unless a lead names another."""

    roles: ClassVar = {"GET": ()}
    scopes: ClassVar = {"GET": Scope.VERSIONS_READ}
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
