"""Pages of annotators: the list for leads, and the page of one person, for leads and for that person."""

from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from apps.accounts.access.pages import member_of, member_view
from apps.accounts.models import Project, User
from apps.accounts.selectors import Member
from apps.agreement.core.weeks import AnnotatorWeek
from apps.agreement.pages.breakdowns import alpha_over_time, day_label, figures_by_week
from apps.agreement.pages.overview import PeriodFigure, over_time
from apps.agreement.presenters import (
    SelectedRounds,
    coefficient_chart,
    estimate,
    frame,
    grades_page,
    pair_row,
    selected_rounds,
    short_names,
)
from apps.agreement.selectors import agreement
from apps.agreement.selectors.people import PEOPLE, PersonSheet, diagnoses_in, has_part, people_of, sheet_of
from apps.calibration import rules
from apps.common.drawing.charts import plot
from apps.common.drawing.svg import clip
from apps.metrics.estimate import Estimate

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
        **_weeks(sheet.comparison.weeks),
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
    names = agreement.names_for(member, [who.pk, *(pair.second for pair in sheet.comparison.others)])
    short = short_names(names)
    compared = list(zip(sheet.comparison.others, sheet.comparison.alphas, strict=True))
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
    labels = [day_label(week.begins) for week in weeks]
    lean = [PeriodFigure(label, week.lean) for label, week in zip(labels, weeks, strict=True)]
    alpha = [PeriodFigure(label, week.alpha.informative) for label, week in zip(labels, weeks, strict=True)]
    pace = [PeriodFigure(label, _seconds(week.pace)) for label, week in zip(labels, weeks, strict=True)]
    return {
        "weeks": weeks,
        "lean_chart": plot(over_time("Higher or lower, by week", lean, low=-1, high=1, lines=((0.0, "as others"),))),
        "lean_figures": figures_by_week("Higher or lower", lean),
        "alpha_chart": plot(alpha_over_time("α ordinal by week", alpha)),
        "alpha_figures": figures_by_week("α ordinal", alpha),
        "is_timed": any(week.figure.value is not None for week in pace),
        "pace_chart": plot(over_time("Median seconds a pair by week", pace, low=0, high=60, places=0)),
        "pace_figures": figures_by_week("Median seconds", pace, 0),
    }


def _seconds(pace: Estimate) -> Estimate:
    """A median of milliseconds in seconds."""
    if pace.value is None:
        return Estimate(None, reason="not timed")
    ends = (pace.interval[0] / SECOND, pace.interval[1] / SECOND) if pace.interval else None
    return Estimate.of(pace.value / SECOND, ends, pace.n)
