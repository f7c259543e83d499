"""The quality log and the flag rates over the API."""

from typing import Any, ClassVar

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.edges.access import ProjectAPIView
from apps.accounts.enums import Scope
from apps.calibration import rules
from apps.calibration.forms import LogForm
from apps.calibration.selectors import log, rates
from apps.calibration.serializers import LogOut, RatesOut, entry_out, rates_out
from apps.common.web.paging import only_known
from apps.review.enums import RateSide

LOG_FILTERS = ("author", "reviewer", "reason", "category", "domain", "source", "month", "origin")


class LogView(ProjectAPIView):
    """Every flag and drop of closed rounds that the user may see, newest first. `before` is `next` of a former page."""

    roles: ClassVar = {"GET": rules.PARTICIPANTS}
    scopes: ClassVar = {"GET": Scope.REVIEW_WRITE}

    @extend_schema(
        operation_id="quality_log",
        parameters=[OpenApiParameter(name, str) for name in ("before", *LOG_FILTERS)],
        responses=LogOut,
    )
    def get(self, request: Request, slug: str) -> Response:
        only_known(request.query_params, {"before", *LOG_FILTERS})
        form = LogForm(request.query_params, project=self.project)
        if not form.is_valid():
            raise ValidationError({name: [str(fault) for fault in faults] for name, faults in form.errors.items()})
        page = log.page_of(self.member, form.narrowed, _cursor(request.query_params.get("before", "")))
        return Response(
            {"entries": [entry_out(entry) for entry in page.entries], "next": str(page.next) if page.next else None}
        )


def _cursor(text: str) -> log.Cursor | None:
    try:
        return log.cursor_from(text) if text else None
    except ValueError:
        raise ValidationError({"before": "This is not a cursor. Use `next` of the previous page."}) from None


class RatesView(ProjectAPIView):
    """Flag rates of one side: of everybody together, and of each person whose rate the user may see."""

    roles: ClassVar = {"GET": rules.PARTICIPANTS}
    scopes: ClassVar = {"GET": Scope.REVIEW_WRITE}

    @extend_schema(
        operation_id="quality_rates",
        parameters=[OpenApiParameter("side", str, enum=RateSide.values)],
        responses=RatesOut,
    )
    def get(self, request: Request, slug: str) -> Response:
        only_known(request.query_params, {"side"})
        side_rates = rates.side_rates(self.project, self._side(request.query_params.get("side", RateSide.AUTHOR.value)))
        shown = [row for row in side_rates.people if rules.person_refusal(self.member, row.person) is None]
        return Response(rates_out(side_rates, shown))

    def _side(self, value: Any) -> RateSide:
        if value not in RateSide.values:
            raise ValidationError({"side": f"One of: {', '.join(RateSide.values)}."})
        return RateSide(value)
