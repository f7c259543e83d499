"""Agreement as a whole with its charts: the overview, and the confusion matrix of two annotators."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.safestring import SafeString
from django.views.decorators.http import require_safe

from apps.accounts.access.pages import member_of, member_view
from apps.accounts.enums import Role
from apps.accounts.models import Project, User
from apps.accounts.selectors import Member
from apps.agreement.core.attention import tightening_of, verdict_of
from apps.agreement.presenters import (
    LABEL_LENGTH,
    both,
    coefficient_chart,
    estimate,
    frame,
    grades_page,
    pair_row,
    selected_rounds,
    short_names,
)
from apps.agreement.selectors import agreement
from apps.agreement.selectors.breakdowns import Overview, overview_of
from apps.agreement.selectors.grade_cache import cached, ratings_in
from apps.calibration import rules
from apps.common.drawing.charts import plot, svg
from apps.common.drawing.svg import DrawnEstimate, Scale, clip, plain, scale, tag, text, ticks, title
from apps.common.files.csvsafe import csv_lines
from apps.common.text.wording import interval, number
from apps.judging.models import Round
from apps.metrics.agreement.pairs import cohen_kappa, kappa_of_maximum, pair_gwet_ac
from apps.metrics.agreement.ratings import Ratings, alpha_of_two, pair_agreement
from apps.metrics.agreement.results import ACCEPTABLE, TOO_NOISY, Coefficient
from apps.metrics.estimate import Estimate

CELL_WIDTH, CELL_HEIGHT = 58.0, 32.0
LABELS = 132.0
WIDTH = 648
HIGH = 0.8
MOST_LABELS = 8


def heat_map(
    name: str, people: Sequence[int], names: Mapping[int, str], alphas: Mapping[frozenset[int], Coefficient]
) -> SafeString:
    """Ordinal α of every two people, the lower triangle; darker is higher, and each cell shows its value.

    Where two share no pair there is no cell; where α is undefined it is dashed, with the reason.
    """
    parts = []
    for column, person in enumerate(people[:-1]):
        x = LABELS + CELL_WIDTH * (column + 0.5)
        parts.append(text(x, 14, clip(names[person], 8), anchor="middle", class_="word"))
    for row, person in enumerate(people[1:]):
        y = 22 + CELL_HEIGHT * row
        parts.append(text(0, y + CELL_HEIGHT / 2 + 4, clip(names[person], 18), class_="word"))
        for column, other in enumerate(people[: row + 1]):
            alpha = alphas.get(frozenset((person, other)))
            if alpha is not None:
                parts.append(_cell(alpha, f"{names[other]} and {names[person]}", LABELS + CELL_WIDTH * column, y))
    width = LABELS + CELL_WIDTH * max(1, len(people) - 1)
    return svg(width, 26 + CELL_HEIGHT * max(1, len(people) - 1), name, parts)


def _cell(alpha: Coefficient, who: str, x: float, y: float) -> str:
    box = {"x": x + 1, "y": y + 1, "width": CELL_WIDTH - 2, "height": CELL_HEIGHT - 2, "rx": 3}
    middle, base = x + CELL_WIDTH / 2, y + CELL_HEIGHT / 2 + 4
    if alpha.value is None:
        words = f"{who}: α is not defined. {alpha.reason}"
        return tag(
            "g", title(words) + tag("rect", class_="heat-none", **box) + text(middle, base, "none", anchor="middle")
        )
    words = f"{who}: α {number(alpha.value, 2)}, {alpha.missing_interval or interval(alpha.interval)}, n {alpha.n:,}"
    shown = text(middle, base, number(alpha.value, 2), anchor="middle", class_="strong")
    return tag("g", title(words) + tag("rect", class_=_heat(alpha.value), **box) + shown)


def _heat(value: float) -> str:
    if value < TOO_NOISY:
        return "heat-noisy"
    if value <= ACCEPTABLE:
        return "heat-unsettled"
    return "heat-fine" if value < HIGH else "heat-high"


class PeriodFigure(NamedTuple):
    label: str
    figure: Estimate


def over_time(
    name: str,
    periods: Sequence[PeriodFigure],
    *,
    low: float,
    high: float,
    lines: Sequence[tuple[float, str]] = (),
    places: int = 2,
) -> SafeString:
    """One value per period with whiskers, oldest first. `lines` are dashed, each with its label at the end.

    The axis reaches from `low` to `high` and further where a value or an interval does.
    """
    left, right, top, bottom = 48.0, WIDTH - 116.0, 12.0, 172.0
    values = _whole_ticks(periods, low, high)
    place = scale(values[0], values[-1], bottom, top)
    parts = []
    for value in values:
        parts.append(tag("path", class_="grid", d=f"M{left:.1f} {place(value):.1f}H{right:.1f}"))
        parts.append(text(left - 8, place(value) + 4, plain(value), anchor="end"))
    for value, word in lines:
        parts.append(tag("path", class_="limit", d=f"M{left:.1f} {place(value):.1f}H{right:.1f}"))
        parts.append(text(right + 8, place(value) + 4, word))
    parts += _drawn_figures(periods, place, left, (right - left) / max(1, len(periods)), bottom, places)
    return svg(WIDTH, bottom + 28, name, parts)


def _whole_ticks(periods: Sequence[PeriodFigure], low: float, high: float) -> list[float]:
    """Round values from at or below the lowest drawn value to at or above the highest."""
    ends = [end for _, figure in periods for end in (figure.value, figure.low, figure.high) if end is not None]
    low, high = min([low, *ends]), max([high, *ends])
    values = ticks(low, high, 5)
    step = values[1] - values[0] if len(values) > 1 else high - low
    below = [values[0] - step] if values[0] > low else []
    above = [values[-1] + step] if values[-1] < high else []
    return [*below, *values, *above]


def _drawn_figures(
    periods: Sequence[PeriodFigure], place: Scale, left: float, step: float, bottom: float, places: int
) -> list[str]:
    parts = []
    every = -(-len(periods) // MOST_LABELS)
    drawn = [(left + step * (at + 0.5), period) for at, period in enumerate(periods)]
    known = [(x, place(period.figure.value)) for x, period in drawn if period.figure.value is not None]
    if len(known) > 1:
        parts.append(tag("path", class_="line", d="M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in known)))
    for at, (x, period) in enumerate(drawn):
        if (len(periods) - 1 - at) % every == 0:
            parts.append(text(x, bottom + 20, period.label, anchor="middle"))
        if period.figure.value is not None:
            parts.append(_mark(x, period, period.figure.value, place, places))
    return parts


def _mark(x: float, period: PeriodFigure, value: float, place: Scale, places: int) -> str:
    ends, n = period.figure.interval, period.figure.n
    words = interval(ends, places) if ends or not period.figure.reason else period.figure.reason.rstrip(".")
    parts = [title(f"{period.label}: {number(value, places)}, {words}, n {n:,}")]
    if ends:
        low, high = map(place, ends)
        caps = f"M{x:.1f} {low:.1f}V{high:.1f}M{x - 4:.1f} {low:.1f}h8M{x - 4:.1f} {high:.1f}h8"
        parts.append(tag("path", class_="whisker", d=caps))
    parts.append(tag("circle", class_="point" if ends else "open", cx=x, cy=place(value), r=4.0))
    return tag("g", "".join(parts))


MOST_DRAWN = 12
PERCENT = "percent agreement"
NO_BANDS = {PERCENT, "Cohen's κ / its maximum"}


@require_safe
@member_view()
@grades_page("overview")
def overview(request: HttpRequest, project: Project) -> HttpResponse:
    member = member_of(request)
    selected = selected_rounds(request, member)
    grades = overview_of(project, selected.shown)
    verdicts = agreement.verdict_agreement(project)
    received, given = (_seen(member, rows) for rows in (verdicts.received, verdicts.given))
    people = {person for pair in grades.pairs for person in (pair.first, pair.second)}
    names = agreement.names_for(member, {*people, *(row.person for row in (*received, *given))})
    context = {
        **frame(member, "overview", selected),
        "grades": grades,
        **_grades(grades, names),
        "subtopics": subtopics_in(project, selected.shown),
        "verdicts": verdicts,
        "verdict_chart": coefficient_chart("Agreement of reviewers", _verdict_estimates(verdicts)),
        "received": [(names[row.person], row.rate) for row in received],
        "given": [(names[row.person], row.rate) for row in given],
    }
    return render(request, "agreement/overview.html", context)


def subtopics_in(project: Project, rounds: Sequence[Round]) -> agreement.SubtopicsAgreement:
    return cached(project, rounds, "subtopics", lambda: agreement.subtopic_agreement(project, rounds))


@require_safe
@member_view()
@grades_page("overview")
def subtopics_file(request: HttpRequest, project: Project) -> HttpResponse:
    """Agreement on each subtopic as CSV."""
    found = subtopics_in(project, selected_rounds(request, member_of(request)).shown)
    answer = HttpResponse(csv_lines(_subtopic_rows(found)), content_type="text/csv; charset=utf-8")
    answer["Content-Disposition"] = 'attachment; filename="subtopics.csv"'
    return answer


def _subtopic_rows(found: agreement.SubtopicsAgreement) -> Iterator[list[object]]:
    yield ["query", "facet", "words", "kappa", "low", "high", "passages", "answered", "asked", "reason"]
    for row in found.rows:
        low, high = row.kappa.interval or (None, None)
        figures = [row.kappa.value, low, high, row.kappa.n, row.answered, row.asked]
        yield [row.query, row.facet, row.words, *figures, row.kappa.reason]


def _grades(grades: Overview, names: dict[int, str]) -> dict[str, Any]:
    """Everybody's coefficients, those of pairs of people, and the charts of both."""
    short = short_names({person: names[person] for person in grades.people})
    pairs = list(zip(grades.pairs, grades.pair_alphas, strict=True))
    drawn = [
        estimate(clip(both(short[pair.first], short[pair.second]), LABEL_LENGTH), "α ordinal", alpha)
        for pair, alpha in pairs[:MOST_DRAWN]
    ]
    return {
        "coefficients": [(one, _band(one)) for one in grades.coefficients],
        "verdict": verdict_of(grades.alpha.informative, queries=grades.alpha.clusters),
        "tightening": "".join(tightening_of(one.estimate) for one in grades.coefficients if one.name == PERCENT),
        "headline_chart": coefficient_chart("Agreement of all annotators", [estimate("α ordinal", "", grades.alpha)]),
        "everybody_chart": coefficient_chart("Agreement of all annotators, with 95 % intervals", _everybody(grades)),
        "pairs": [pair_row(pair, alpha, both(names[pair.first], names[pair.second])) for pair, alpha in pairs],
        "pair_chart": coefficient_chart("Agreement by pair of people, with 95 % intervals", drawn),
        "heat_map": _heat_map(grades, short) if len(grades.people) > 2 else "",
        "pairs_left_out": len(grades.pairs) - len(drawn),
    }


def _everybody(grades: Overview) -> list[DrawnEstimate]:
    """The coefficients corrected for chance; the bands of the chart apply to no others."""
    return [
        estimate(one.name, "", one, strong=one == grades.alpha) for one in grades.coefficients if one.name != PERCENT
    ]


def _band(coefficient: Coefficient) -> str:
    """The band of a value corrected for chance; plain agreement and shares of a maximum have none."""
    return "" if coefficient.name in NO_BANDS else coefficient.reads_as


def _heat_map(grades: Overview, names: dict[int, str]) -> Any:
    words = "Ordinal α of every two people, darker is more alike"
    alphas = {
        frozenset((pair.first, pair.second)): alpha
        for pair, alpha in zip(grades.pairs, grades.pair_alphas, strict=True)
    }
    return plot(heat_map(words, grades.people, names, alphas))


def _seen(member: Member, rows: list[agreement.PersonRate]) -> list[agreement.PersonRate]:
    """The rates that this member may see."""
    return [row for row in rows if rules.person_refusal(member, row.person) is None]


def _verdict_estimates(verdicts: agreement.VerdictAgreement) -> list[DrawnEstimate]:
    words = {"block": "passage"}
    rows = [
        estimate(f"The {words.get(question.aspect, question.aspect)}", "Fleiss' κ", question.kappa)
        for question in verdicts.questions
    ]
    return [estimate("Confirm or flag", "Fleiss' κ", verdicts.kappa, strong=True), *rows]


# Two people --------------------------------------------------------------------------------------------------------


@require_safe
@member_view(Role.LEAD)
@grades_page("overview")
def pair(request: HttpRequest, project: Project, first: int, second: int) -> HttpResponse:
    """The confusion matrix of two annotators, for leads only: small counts would reveal single grades."""
    member = member_of(request)
    selected = selected_rounds(request, member)
    ratings = ratings_in(project, selected.shown)
    if first == second or not {first, second} <= set(ratings.people):
        raise Http404("These two share no round.")
    names = dict(User.objects.filter(pk__in=[first, second]).values_list("pk", "name"))
    table, cells = ratings.table(first, second), ratings.cells(first, second)
    figures = pair_agreement(table, cells, first, second, ratings.grades)
    context = {
        **frame(member, "overview", selected),
        "first": names[first],
        "second": names[second],
        "first_id": first,
        "second_id": second,
        "n": figures.n,
        "grades": ratings.grades,
        "matrix": _matrix(ratings, table.tolist()),
        "column_sums": table.sum(axis=0).tolist(),
        "coefficients": [
            (one, _band(one))
            for one in (
                figures.percent,
                figures.kappa,
                cohen_kappa(table, kind="linear", values=ratings.grades, cells=cells),
                figures.quadratic,
                kappa_of_maximum(table, cells),
                pair_gwet_ac(table, cells),
                alpha_of_two(ratings, first, second),
            )
        ],
    }
    return render(request, "agreement/pair.html", context)


def _matrix(ratings: Ratings, table: list[list[int]]) -> list[dict[str, Any]]:
    rows = []
    for place, grade in enumerate(ratings.grades):
        cells = [
            {"count": count, "is_same": column == place, "grade": ratings.grades[column]}
            for column, count in enumerate(table[place])
        ]
        rows.append({"grade": grade, "cells": cells, "sum": sum(table[place])})
    return rows
