"""Pages of agreement."""

from collections import Counter
from collections.abc import Sequence
from math import floor
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from apps.accounts.access import member_of, member_view
from apps.accounts.enums import Role
from apps.accounts.models import Project, User
from apps.accounts.selectors import Member
from apps.agreement import rules, selectors
from apps.agreement.coefficients import Coefficient, band
from apps.agreement.ratings import PairAgreement, Ratings, pair_agreement
from apps.common.charts import Estimate, clip, estimates, plot
from apps.judging.models import Round

SECTION = "Agreement"
LABEL_LENGTH = 22


@require_safe
@member_view()
def overview(request: HttpRequest, project: Project) -> HttpResponse:
    member = member_of(request)
    chosen = _chosen_round(request, member)
    rounds = selectors.rounds_for(member)
    grades = selectors.grade_agreement(project, [chosen] if chosen else rounds)
    verdicts = selectors.verdict_agreement(project)
    received, given = (_seen(member, rows) for rows in (verdicts.received, verdicts.given))
    names = selectors.names_for(member, {*grades.ratings.people, *(row.person for row in (*received, *given))})
    rows = _estimates(grades, _short(names))
    return render(
        request,
        "agreement/overview.html",
        {
            "section": SECTION,
            "part": "overview",
            "works_here": member.holds(*rules.PARTICIPANTS),
            "rounds": rounds,
            "is_bound": selectors.is_bound(member),
            "chosen": chosen,
            "grades": grades,
            "pairs": [_pair(pair, names) for pair in grades.pairs],
            "chart": plot(_chart("Agreement by pair of people, with 95 % intervals", rows)),
            "verdicts": verdicts,
            "verdict_chart": plot(_chart("Agreement of reviewers", [_verdict_estimate(verdicts)])),
            "verdict_band": band(verdicts.kappa.value) if verdicts.kappa.value is not None else "",
            "received": [(names[row.person], row.rate) for row in received],
            "given": [(names[row.person], row.rate) for row in given],
        },
    )


@require_safe
@member_view(Role.LEAD)
def pair(request: HttpRequest, project: Project, first: int, second: int) -> HttpResponse:
    """The confusion matrix of two annotators, for leads: small counts come close to single grades."""
    chosen = _chosen_round(request, member_of(request))
    ratings = selectors.ratings_in(project, [chosen] if chosen else None)
    if first == second or not {first, second} <= set(ratings.people):
        raise Http404("These two share no round.")
    names = dict(User.objects.filter(pk__in=[first, second]).values_list("pk", "name"))
    table = ratings.table(first, second)
    return render(
        request,
        "agreement/pair.html",
        {
            "section": SECTION,
            "chosen": chosen,
            "first": names[first],
            "second": names[second],
            "grades": ratings.grades,
            "matrix": _matrix(ratings, table.tolist()),
            "column_sums": table.sum(axis=0).tolist(),
            "pair": _pair(pair_agreement(table, first, second, ratings.grades), names),
        },
    )


def _seen(member: Member, rows: list[selectors.PersonRate]) -> list[selectors.PersonRate]:
    """The rates that this member may see."""
    return [row for row in rows if rules.person_refusal(member, row.person) is None]


def _chosen_round(request: HttpRequest, member: Member) -> Round | None:
    number = request.GET.get("round", "")
    if not number:
        return None
    if not number.isascii() or not number.isdigit() or len(number) > 18:
        raise Http404("No such round.")
    return selectors.round_for(member, int(number))


def _pair(pair: PairAgreement, names: dict[int, str]) -> dict[str, Any]:
    value = pair.quadratic.value
    return {
        "first": pair.first,
        "second": pair.second,
        "label": _both(names[pair.first], names[pair.second]),
        "n": pair.n,
        "coefficients": [pair.percent, pair.kappa, pair.quadratic],
        "band": "" if value is None else band(value),
    }


def _short(names: dict[int, str]) -> dict[int, str]:
    """First names where nobody else has the same, for labels beside a chart; "Person A" stays whole."""
    firsts = Counter(name.split()[0] for name in names.values() if name.split())
    return {
        pk: name.split()[0] if name.split() and firsts[name.split()[0]] == 1 else name for pk, name in names.items()
    }


def _both(first: str, second: str) -> str:
    return f"You and {first}" if second == "You" else f"{first} and {second}"


def _matrix(ratings: Ratings, table: list[list[int]]) -> list[dict[str, Any]]:
    rows = []
    for place, grade in enumerate(ratings.grades):
        cells = [{"count": count, "is_same": column == place} for column, count in enumerate(table[place])]
        rows.append({"grade": grade, "cells": cells, "sum": sum(table[place])})
    return rows


def _estimate(label: str, measure: str, found: Coefficient, *, strong: bool = False) -> Estimate:
    low, high = found.interval or (None, None)
    return Estimate(label, found.value, low, high, found.n, measure, strong, found.reason)


def _estimates(grades: selectors.GradeAgreement, names: dict[int, str]) -> list[Estimate]:
    rows = [_estimate("All annotators", "α ordinal", grades.overall, strong=True)]
    for found in grades.pairs:
        label = clip(_both(names[found.first], names[found.second]), LABEL_LENGTH)
        rows.append(_estimate(label, "κ quadratic", found.quadratic))
    return rows


def _verdict_estimate(verdicts: selectors.VerdictAgreement) -> Estimate:
    return _estimate("Confirm or flag", "Fleiss' κ", verdicts.kappa, strong=True)


def _chart(name: str, rows: Sequence[Estimate]) -> Any:
    """From 0 to 1, or from the tenth below the lowest interval: a negative coefficient is seen as one."""
    lowest = min([0.0, *(row.low for row in rows if row.low is not None)])
    return estimates(name, rows, low=floor(lowest * 5) / 5)
