"""The files of reports over the API, with the same access as on the pages."""

from typing import Any, ClassVar

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request

from apps.accounts.edges.api import ProjectAPIView
from apps.accounts.enums import Scope
from apps.common.web.negotiation import OneForm
from apps.common.web.paging import only_known
from apps.reports.edges import documents
from apps.reports.edges.documents import FORMS, HTML

FORMAT = OpenApiParameter("format", str, enum=list(FORMS), default=HTML)
FILES = {(200, "text/html"): OpenApiTypes.BINARY, (200, "text/markdown"): OpenApiTypes.BINARY}


class ReportView(ProjectAPIView):
    """An endpoint that answers with a report. A token sees no more than its owner."""

    roles: ClassVar = {"GET": ()}
    scopes: ClassVar = {"GET": Scope.RUNS_READ}
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
