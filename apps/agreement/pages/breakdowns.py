"""Pages of agreement by boundary, query, stratum and week; what to improve in the guideline; the pairs themselves."""

from datetime import date
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.safestring import SafeString
from django.views.decorators.http import require_safe

from apps.accounts.access.pages import member_of, member_view
from apps.accounts.enums import Role
from apps.accounts.models import Project, User
from apps.agreement.pages.overview import PeriodFigure, over_time
from apps.agreement.presenters import coefficient_chart, estimate, frame, grades_page, selected_rounds, whole_number
from apps.agreement.selectors.breakdowns import (
    BOUNDARY,
    QUERY,
    WAYS,
    WEEK,
    AlphaPart,
    Tight,
    boundaries_in,
    overview_of,
    parts_in,
    tight_spots,
)
from apps.agreement.selectors.differing_pairs import NO_RULING, Which, differences
from apps.agreement.selectors.people import has_part
from apps.common.drawing.charts import figures, plot
from apps.common.drawing.svg import clip
from apps.common.text.wording import interval, number
from apps.judging.core.guidelines import GradeText
from apps.judging.models import Round
from apps.judging.selectors.rounds import latest_guideline
from apps.metrics.agreement.grouped_alpha import Boundary
from apps.metrics.statistics.proportions import wilson
from apps.queries.models import Query

LABEL_LENGTH = 26


@require_safe
@member_view()
@grades_page("where")
def where(request: HttpRequest, project: Project) -> HttpResponse:
    """Agreement by one breakdown; by boundary between grades when none is named."""
    member = member_of(request)
    selected = selected_rounds(request, member)
    by = request.GET.get("by") or BOUNDARY
    if by not in WAYS:
        raise Http404("Agreement is not broken down by that.")
    context = {
        **frame(member, "where", selected),
        "by": by,
        "way": WAYS[by],
        "ways": WAYS.items(),
        "everybody": overview_of(project, selected.shown),
        **(
            _boundaries(boundaries_in(project, selected.shown))
            if by == BOUNDARY
            else _parts(project, selected.shown, by)
        ),
    }
    return render(request, "agreement/where.html", context)


def _boundaries(boundaries: list[Boundary]) -> dict[str, Any]:
    rows = [estimate(f"{one.below} or {one.above}", "α", one.alpha) for one in boundaries]
    return {
        "boundaries": [(one, one.alpha.reads_as) for one in boundaries],
        "drawing": coefficient_chart("α of the grades in two groups at each boundary, with 95 % intervals", rows),
        "total": len(boundaries),
    }


def _parts(project: Project, rounds: list[Round], by: str) -> dict[str, Any]:
    parts = parts_in(project, rounds, by)
    return {
        "parts": [(part, part.alpha.reads_as) for part in parts.shown],
        "total": parts.total,
        "alike": parts.alike,
        "has_items": by == QUERY,
        "drawing": _by_week(parts.shown) if by == WEEK else _by_part(parts.shown, WAYS[by]),
    }


def _by_part(parts: list[AlphaPart], way: str) -> SafeString:
    """Chart rows of the parts that have an α; the table gives the reason for the others."""
    defined = [part for part in parts if part.alpha.is_defined]
    rows = [estimate(clip(part.label.name, LABEL_LENGTH), "", part.alpha) for part in defined]
    return coefficient_chart(f"α ordinal by {way.lower()}, with 95 % intervals", rows)


def _by_week(parts: list[AlphaPart]) -> SafeString:
    weeks = [PeriodFigure(day_label(date.fromisoformat(part.label.name)), part.alpha.informative) for part in parts]
    return plot(alpha_over_time("α ordinal by week, with 95 % intervals", weeks))


def day_label(begins: date) -> str:
    """A day as a label under a chart, "9 Mar"; short, since eight are in a row."""
    return f"{begins.day} {begins:%b}"


def alpha_over_time(name: str, weeks: list[PeriodFigure]) -> SafeString:
    return over_time(name, weeks, low=0, high=1, lines=((0.4, "too noisy below"), (0.6, "acceptable above")))


def figures_by_week(head: str, weeks: list[PeriodFigure], places: int = 2) -> SafeString:
    """The table of figures of a chart over time."""
    rows = [
        [
            label,
            figure.reason or "not defined" if figure.value is None else number(figure.value, places),
            "" if figure.value is None else interval(figure.interval, places),
            f"{figure.n:,}",
        ]
        for label, figure in weeks
    ]
    return figures(["Week of", head, "95 % interval", "n"], rows)


# What to tighten ---------------------------------------------------------------------------------------------------


@require_safe
@member_view(Role.LEAD)
@grades_page("tighten")
def tighten(request: HttpRequest, project: Project) -> HttpResponse:
    """The boundaries and queries that lower agreement most, with the guideline's text about them."""
    member = member_of(request)
    selected = selected_rounds(request, member)
    spots = tight_spots(project, selected.shown)
    guideline = latest_guideline(project)
    texts = {entry["grade"]: entry for entry in guideline.grades} if guideline else {}
    context = {
        **frame(member, "tighten", selected),
        "spots": spots,
        "signal": _signal(spots),
        "guideline": guideline,
        "sides": _sides(spots.worst, texts),
        "boundaries": [
            (one, spots.rulings.by_boundary.get(one.above, NO_RULING))
            for one in sorted(spots.boundaries, key=lambda one: (-one.crossings, one.below))
        ],
    }
    return render(request, "agreement/tighten.html", context)


def _signal(spots: Tight) -> str:
    """What to act on: queries that lower agreement, where that is more than chance, or leads' decisions."""
    rulings = spots.rulings.all
    costly = sum(row.is_settled(spots.places) for row in spots.queries)
    decided = f"in {rulings.hits:,} of {rulings.n:,} a lead called the guideline unclear"
    if costly:
        sentence = f"Of {len(spots.queries)} queries below, α would rise beyond chance without {costly}."
        return f"{sentence} In decisions, {decided}." if rulings.hits else sentence
    silent = "No single query clearly lowers α: every interval reaches 0."
    if not rulings.hits:
        return f"{silent} No decision calls the guideline unclear either. Begin with the grade boundary below."
    return f"{silent} But {decided}{_most_unclear(spots)}."


def _most_unclear(spots: Tight) -> str:
    """The boundary that decisions call unclear most, by the low end of Wilson's interval: 4 of 5 beats 1 of 1."""
    ruled = [(one, spots.rulings.by_boundary.get(one.above, NO_RULING)) for one in spots.boundaries]
    named = [(one, unclear) for one, unclear in ruled if unclear.hits]
    if not named:
        return ""
    most, unclear = max(named, key=lambda pair: wilson(*pair[1]) or (0.0, 0.0))
    return f", most often between {most.below} and {most.above}, {unclear.hits:,} of {unclear.n:,}"


def _sides(worst: Boundary | None, texts: dict[int, GradeText]) -> list[tuple[int, GradeText | None]]:
    """Both grades of the boundary with the guideline's text on them, the higher first."""
    return [] if worst is None else [(grade, texts.get(grade)) for grade in (worst.above, worst.below)]


# The pairs themselves ----------------------------------------------------------------------------------------------


@require_safe
@member_view(Role.LEAD)
@grades_page("where")
def items(request: HttpRequest, project: Project) -> HttpResponse:
    """The pairs behind a cell of a matrix, a boundary or a query, with each person's grade; for leads only."""
    member = member_of(request)
    selected = selected_rounds(request, member)
    which = Which(**{name: whole_number(request.GET.get(name, "")) for name in Which._fields})
    context = {
        **frame(member, "where", selected),
        "differences": differences(member, selected.shown, which),
        "which": which,
        "words": _words(project, which),
    }
    return render(request, "agreement/items.html", context)


def _words(project: Project, which: Which) -> str:
    """The filter of the listed pairs in words. Raises Http404 for people or a query that do not exist."""
    words = []
    for person, grade in ((which.first, which.row), (which.second, which.column)):
        if person is not None:
            if not has_part(project, person):
                raise Http404("No such person in this project.")
            name = User.objects.values_list("name", flat=True).get(pk=person)
            words.append(f"{name} gave {'any grade' if grade is None else grade}")
    if which.boundary is not None:
        words.append(f"one gave less than {which.boundary}, another {which.boundary} or more")
    if which.query is not None:
        query = Query.objects.filter(project=project, pk=which.query).first()
        if query is None:
            raise Http404("No such query.")
        words.append(f"of query {query.outside_id}")
    return "; ".join(words) or "every pair that two people graded"
