"""API of triples as a file."""

from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema, inline_serializer
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.access.api import ProjectAPIView
from apps.accounts.enums import Role, Scope
from apps.common.web.api import OneForm
from apps.common.web.paging import only_known
from apps.review.presenters import export_response
from apps.review.selectors.exports import STATES, Selection
from apps.triples.enums import State
from apps.triples.formats import WRITTEN

READERS = (Role.ANNOTATOR, Role.REVIEWER, Role.LEAD)
WHICH = OpenApiParameter("state", str, enum=list(STATES), default=State.ACCEPTED.value)


class TripleExport(ProjectAPIView):
    """The triples in one state, as entries of a gold set, streamed."""

    roles = {"GET": READERS}
    scopes = {"GET": Scope.REVIEW_WRITE}
    content_negotiation_class = OneForm

    @extend_schema(
        operation_id="triples_export",
        parameters=[WHICH, OpenApiParameter("format", str, enum=list(WRITTEN), default="jsonl")],
        responses={
            (200, "application/x-ndjson"): OpenApiTypes.BINARY,
            (200, "application/yaml"): OpenApiTypes.BINARY,
        },
    )
    def get(self, request: Request, slug: str):
        params = request.query_params
        only_known(params, {"state", "format"})
        return export_response(
            self.member, state=params.get("state", State.ACCEPTED.value), form=params.get("format", "jsonl")
        )


class TripleExportReport(ProjectAPIView):
    """What that file leaves out, with reasons."""

    roles = {"GET": READERS}
    scopes = {"GET": Scope.REVIEW_WRITE}

    @extend_schema(
        operation_id="triples_export_report",
        parameters=[WHICH],
        responses=inline_serializer(
            "LeftOut",
            {
                "reason": serializers.CharField(),
                "count": serializers.IntegerField(),
                "triples": serializers.ListField(child=serializers.CharField()),
            },
            many=True,
        ),
    )
    def get(self, request: Request, slug: str) -> Response:
        only_known(request.query_params, {"state"})
        state = request.query_params.get("state", State.ACCEPTED.value)
        left_out = Selection(self.project, state, member=self.member, at=timezone.now()).left_out()
        return Response([{"reason": one.reason, "count": one.count, "triples": one.labels} for one in left_out])
