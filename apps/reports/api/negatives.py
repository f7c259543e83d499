"""Negatives over the API."""

from typing import Any, ClassVar

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request

from apps.accounts.edges.api import ProjectAPIView
from apps.accounts.enums import Scope
from apps.common.web.negotiation import OneForm
from apps.common.web.paging import only_known
from apps.goldsets.enums import Split
from apps.reports.edges.negatives import file_response, visible_version
from apps.reports.selectors.negatives import CONTENT_TYPES

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
