"""Pages of annotators: the list for leads, and the page of one person, for leads and for that person."""

from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from apps.accounts.edges.access import member_of, member_view
from apps.accounts.models import Project, User
from apps.accounts.selectors import Member
from apps.agreement.core.weeks import AnnotatorWeek
from apps.agreement.edges import (
    SelectedRounds,
    coefficient_chart,
    estimate,
    frame,
    grades_page,
    pair_row,
    selected_rounds,
    short_names,
)
from apps.agreement.pages.breakdowns import alpha_moment, alpha_over_time, day_label, moment_figures
from apps.agreement.pages.charts import Moment, over_time
from apps.agreement.selectors import agreement
from apps.agreement.selectors.diagnosis import diagnoses_in
from apps.agreement.selectors.people import PEOPLE, PersonSheet, has_part, people_of, sheet_of
from apps.calibration import rules
from apps.common.drawing.charts import plot
from apps.common.drawing.svg import clip

LABEL_LENGTH = 24
SECOND = 1_000.0


@require_safe
@member_view(*rules.PARTICIPANTS)
@grades_page("people")
def people(request: HttpRequest, project: Project) -> HttpResponse:
    """Everybody who graded, for leads; other members see themselves alone."""
    member = member_of(request)
    selected = selected_rounds(request, member)
    listed = people_of(member, selected.shown)
    names = agreement.names_for(member, [line.person for line in listed.lines])
    context = {
        **frame(member, "people", selected),
        "rows": [(names[line.person], line) for line in listed.lines],
        "total": listed.total,
        **_diagnoses(request, member, selected),
    }
    return render(request, "agreement/people.html", context)


def _diagnoses(request: HttpRequest, member: Member, selected: SelectedRounds) -> dict[str, Any]:
    """The label model's diagnosis, when a lead requests it: it is slower than the rest, and not for daily use."""
    if not member.is_lead or "diagnose" not in request.GET:
        return {"diagnoses": None}
    diagnoses = diagnoses_in(member.project, selected.shown)
    names = agreement.names_for(member, [row.person for row in diagnoses.rows])
    return {"diagnoses": diagnoses, "diagnosed": [(names[row.person], row) for row in diagnoses.rows[:PEOPLE]]}


@require_safe
@member_view(*rules.PARTICIPANTS)
@grades_page("people")
def person(request: HttpRequest, project: Project, person: int) -> HttpResponse:
    """One person compared with others, with decisions and with their own second grades, and by week."""
    member = member_of(request)
    who = _person(member, person)
    selected = selected_rounds(request, member)
    sheet = sheet_of(member, selected.shown, who.pk)
    context = {
        **frame(member, "people", selected),
        "who": who,
        "is_self": who.pk == member.user.pk,
        "sheet": sheet,
        **_others(member, sheet, who),
        **_weeks(sheet.beside.weeks),
    }
    return render(request, "agreement/person.html", context)


def _person(member: Member, pk: int) -> User:
    """The person whose page it is. Raises Http404 for one who never graded or reviewed here and holds no role."""
    if reason := rules.person_refusal(member, pk):
        raise PermissionDenied(reason)
    who = User.objects.filter(pk=pk).first()
    if who is None or not (pk == member.user.pk or has_part(member.project, pk)):
        raise Http404("No such person in this project.")
    return who


def _others(member: Member, sheet: PersonSheet, who: User) -> dict[str, Any]:
    names = agreement.names_for(member, [who.pk, *(pair.second for pair in sheet.beside.others)])
    short = short_names(names)
    compared = list(zip(sheet.beside.others, sheet.beside.alphas, strict=True))
    rows = [estimate(clip(short[pair.second], LABEL_LENGTH), "α ordinal", alpha) for pair, alpha in compared]
    return {
        "pairs": [pair_row(pair, alpha, names[pair.second]) for pair, alpha in compared],
        "others_chart": coefficient_chart("Agreement with each other person, with 95 % intervals", rows),
        "compared": [
            ("Decision of a lead", "none of their pairs was decided", sheet.decisions),
            ("Own grade, a second time", "no pair was repeated for them", sheet.repeats),
        ],
    }


def _weeks(weeks: list[AnnotatorWeek]) -> dict[str, Any]:
    """Three charts over the same weeks: lean, agreement, pace; each with its figures."""
    lean = [_moment(week, week.lean.value, week.lean.interval, week.lean.n, week.lean.reason) for week in weeks]
    alpha = [alpha_moment(day_label(week.begins), week.alpha) for week in weeks]
    pace = [_pace(week) for week in weeks]
    return {
        "weeks": weeks,
        "lean_chart": plot(over_time("Higher or lower, by week", lean, low=-1, high=1, lines=((0.0, "as others"),))),
        "lean_figures": moment_figures("Higher or lower", lean),
        "alpha_chart": plot(alpha_over_time("α ordinal by week", alpha)),
        "alpha_figures": moment_figures("α ordinal", alpha),
        "is_timed": any(moment.value is not None for moment in pace),
        "pace_chart": plot(over_time("Median seconds a pair by week", pace, low=0, high=60, places=0)),
        "pace_figures": moment_figures("Median seconds", pace, 0),
    }


def _moment(
    week: AnnotatorWeek, value: float | None, interval: tuple[float, float] | None, n: int, why: str = ""
) -> Moment:
    return Moment(day_label(week.begins), value, interval, n, why)


def _pace(week: AnnotatorWeek) -> Moment:
    """The median in seconds."""
    found = week.pace
    if found.value is None:
        return _moment(week, None, None, 0, "not timed")
    ends = (found.interval[0] / SECOND, found.interval[1] / SECOND) if found.interval else None
    return _moment(week, found.value / SECOND, ends, found.n)
