"""Agreement as a whole: the overview, and the confusion matrix of two annotators."""

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from apps.accounts.edges.access import member_of, member_view
from apps.accounts.enums import Role
from apps.accounts.models import Project, User
from apps.accounts.selectors import Member
from apps.agreement.core.verdict import verdict_of
from apps.agreement.edges import (
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
from apps.agreement.pages.charts import heat_map
from apps.agreement.selectors import agreement
from apps.agreement.selectors.breakdowns import Overview, overview_of
from apps.agreement.selectors.grade_cache import ratings_in
from apps.calibration import rules
from apps.common.drawing.charts import plot
from apps.common.drawing.svg import DrawnEstimate, clip
from apps.metrics.agreement.pairs import cohen_kappa, kappa_of_maximum, pair_gwet_ac
from apps.metrics.agreement.ratings import Ratings, alpha_of_table, pair_agreement
from apps.metrics.agreement.results import Coefficient

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
        "verdicts": verdicts,
        "verdict_chart": coefficient_chart("Agreement of reviewers", _verdict_estimates(verdicts)),
        "received": [(names[row.person], row.rate) for row in received],
        "given": [(names[row.person], row.rate) for row in given],
    }
    return render(request, "agreement/overview.html", context)


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
        "verdict": verdict_of(grades.alpha.informative),
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
    table = ratings.table(first, second)
    figures = pair_agreement(table, first, second, ratings.grades)
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
                cohen_kappa(table, kind="linear", values=ratings.grades),
                figures.quadratic,
                kappa_of_maximum(table),
                pair_gwet_ac(table),
                alpha_of_table(table, ratings.grades),
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
