"""The quality log and the flag rates."""

import math
from typing import Any
from urllib.parse import urlencode

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from apps.accounts.access.pages import member_of, member_view
from apps.accounts.models import Project, User
from apps.accounts.selectors import Member, policy
from apps.calibration import rules
from apps.calibration.core.control_chart import Group
from apps.calibration.forms import LogForm
from apps.calibration.selectors import rates
from apps.calibration.selectors.rates import PersonRates, SideRates
from apps.common.drawing import charts
from apps.common.drawing.charts import Period, control_chart
from apps.common.files.csvsafe import csv_lines
from apps.common.text.wording import percent
from apps.review.enums import RateSide
from apps.review.selectors.tracking import Dimension
from apps.triples.rules import READERS

MOST_POINTS = 24
BY_REASON = "reason"


# The log -----------------------------------------------------------------------------------------------------------


@member_view(*READERS)
@require_safe
def quality_log(request: HttpRequest, project: Project) -> HttpResponse:
    member = member_of(request)
    form = LogForm(request.GET, project=project)
    narrowed = form.narrowed
    page = rates.page_of(member, narrowed, _cursor(request))
    chosen = {name: value for name, value in narrowed._asdict().items() if value}
    context = {
        "part": "log",
        "form": form,
        "page": page,
        "is_filtered": bool(chosen),
        "chosen": urlencode(chosen),
        "older": urlencode({**chosen, "before": page.next}) if page.next else "",
    }
    return render(request, "calibration/log.html", context, status=200 if form.is_valid() else 400)


def _cursor(request: HttpRequest) -> rates.Cursor | None:
    text = request.GET.get("before", "")
    try:
        return rates.cursor_from(text) if text else None
    except ValueError:
        raise Http404("No such page of the log.") from None


@member_view(*READERS)
@require_safe
def download_log(request: HttpRequest, project: Project) -> Any:
    """The log as CSV, filtered like the page; cells that a spreadsheet would run are made safe."""
    form = LogForm(request.GET, project=project)
    if not form.is_valid():
        return HttpResponse("These filters cannot be read. Choose them on the page.", status=400)
    rows = rates.rows(member_of(request), form.narrowed)
    answer = StreamingHttpResponse(csv_lines(rows), content_type="text/csv; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="{project.slug}-quality-log.csv"'
    return answer


# Rates -------------------------------------------------------------------------------------------------------------


@member_view(*READERS)
@require_safe
def flag_rates(request: HttpRequest, project: Project) -> HttpResponse:
    """Rates of one side: everybody's for leads, their own for others; with breakdowns, and the chart of one person."""
    member = member_of(request)
    side = _one_of(RateSide, request.GET.get("side") or RateSide.AUTHOR.value)
    by = request.GET.get("by") or Dimension.MONTH.value
    if by != BY_REASON:
        _one_of(Dimension, by)
    side_rates = rates.side_rates(project, side)
    chosen = _person_shown(member, side_rates, request.GET.get("person", ""))
    shown = [row for row in side_rates.people if rules.person_refusal(member, row.person) is None]
    names = dict(User.objects.filter(pk__in=[row.person for row in shown]).values_list("pk", "name"))
    person = chosen.person if chosen else None
    groups = side_rates.groups(chosen.person) if chosen else []
    parts = (
        rates.by_reason(project, side, chosen or side_rates.everybody, person)
        if by == BY_REASON
        else rates.breakdown(project, side, Dimension(by), person)
    )
    context = {
        "part": "rates",
        "side": side,
        "sides": RateSide,
        "by": by,
        "ways": [(dimension.value, dimension.value) for dimension in Dimension] + [(BY_REASON, BY_REASON)],
        "rates": side_rates,
        "rows": [(names[row.person], row) for row in shown],
        "chart": _rates_chart(side_rates, shown, names, side),
        "chosen": chosen,
        "chosen_name": names.get(chosen.person) if chosen else "",
        "control": _control(groups, side_rates, names[chosen.person], side) if chosen and groups else None,
        "parts": parts,
        "denominator": rates.DENOMINATORS[side],
        "few": policy(project, "calibrating_reviews"),
        "has_machine": bool(side_rates.everybody.machine.n),
    }
    return render(request, "calibration/rates.html", context)


def _one_of(kind: Any, value: str) -> Any:
    try:
        return kind(value)
    except ValueError:
        raise Http404("No such rates.") from None


def _person_shown(member: Member, side_rates: SideRates, text: str) -> PersonRates | None:
    """The person whose chart is shown: the requested one, or oneself where the member may see no other."""
    by_person = {row.person: row for row in side_rates.people}
    if not text:
        return None if member.is_lead else by_person.get(member.user.pk)
    if not (text.isascii() and text.isdigit() and len(text) < 19) or int(text) not in by_person:
        raise Http404("No such person in these rates.")
    if reason := rules.person_refusal(member, int(text)):
        raise PermissionDenied(reason)
    return by_person[int(text)]


def _rates_chart(side_rates: SideRates, shown: list[PersonRates], names: dict[int, str], side: RateSide) -> Any:
    """Rates in percent on one axis, everybody first; people who are calibrating are drawn hollow."""
    rows = [_estimate("Everybody", side_rates.everybody, strong=True)]
    rows += [_estimate(charts.clip(names[row.person], 22), row) for row in shown]
    highest = max([10.0, *(row.high for row in rows if row.high is not None)])
    name = f"Flag rate {side.label} in percent, with 95 % intervals"
    return charts.plot(
        charts.estimates(
            name,
            rows,
            low=0,
            high=min(100, math.ceil(highest / 10) * 10),
            bands=False,
            places=1,
            unit="\N{NO-BREAK SPACE}%",
        ),
        caption=charts.undefined_note(rows),
    )


def _estimate(label: str, row: PersonRates, *, strong: bool = False) -> charts.DrawnEstimate:
    if row.people.value is None or row.people.interval is None:
        return charts.DrawnEstimate(label, None, strong=strong, why="No review of a Q&A written by people yet.")
    low, high = row.people.interval
    return charts.DrawnEstimate(
        label, row.people.value * 100, low * 100, high * 100, row.people.n, "", strong, open=row.is_calibrating
    )


def _control(groups: list[Group], side_rates: SideRates, name: str, side: RateSide) -> dict[str, Any]:
    """The control chart of one person, and its figures."""
    shown = groups[-MOST_POINTS:]
    mean = side_rates.mean or 0.0
    periods = [Period(group.last, group.hits, group.n, group.high, group.low, not group.is_full) for group in shown]
    outside = [group.label for group in shown if group.is_outside]
    words = f"above the limit: {', '.join(outside)}" if outside else "no group is above the limit"
    drawing = control_chart(f"Flag rate of {name} {side.label}; {words}", periods, mean, unit="month")
    head = ["Months", "Reviewed", "Flagged", "Rate", "Lower limit", "Upper limit", "Reads as"]
    table = charts.figures(
        head,
        [
            [
                group.label,
                f"{group.n:,}",
                f"{group.hits:,}",
                percent(group.rate),
                percent(group.low),
                percent(group.high),
                _reading(group),
            ]
            for group in shown
        ],
    )
    return {"drawing": charts.plot(drawing), "figures": table, "left_out": len(groups) - len(shown)}


def _reading(group: Group) -> str:
    if not group.is_full:
        return "too few to count"
    if group.is_outside:
        return "above the limit"
    return "above the mean" if group.rate > group.mean else "within"
