"""Shared parts of the pages of agreement: the selected rounds, labels of charts, rows of coefficients."""

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial, wraps
from math import floor
from typing import Any, NamedTuple

from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils import timezone
from django.utils.safestring import SafeString

from apps.accounts.access.pages import View, member_of
from apps.accounts.selectors import Member
from apps.agreement.actions import have_grades_read
from apps.agreement.models import ReadGrades
from apps.agreement.selectors import agreement
from apps.agreement.selectors.grade_cache import GradesNotRead
from apps.calibration import rules
from apps.common.drawing.charts import estimates, plot
from apps.common.drawing.svg import DrawnEstimate
from apps.judging.models import Round
from apps.metrics.agreement.ratings import PairAgreement
from apps.metrics.agreement.results import Coefficient

SECTION = "Agreement"
PEOPLE = "Annotators"
"""The section of the pages about people, for leads; other members find their own grades under agreement."""
LABEL_LENGTH = 22
MOST_DIGITS = 18


class SelectedRounds(NamedTuple):
    """The rounds that the member may see, the selected one, and those whose figures are shown.

    `reading` is the stored grades that figures are computed from, for very many grades.
    """

    rounds: list[Round]
    chosen: Round | None
    reading: ReadGrades | None = None

    @property
    def shown(self) -> list[Round]:
        return [self.chosen] if self.chosen else self.rounds


def selected_rounds(request: HttpRequest, member: Member) -> SelectedRounds:
    """The rounds that `round` in the address selects: one, or all that this member may see.

    Enqueues a job that reads very many grades when there are newer ones. Raises GradesNotRead until the first is done.
    """
    rounds = agreement.rounds_for(member)
    number = whole_number(request.GET.get("round", ""))
    chosen = next((round_ for round_ in rounds if round_.pk == number), None)
    if number is not None and chosen is None:
        raise Http404("No such round.")
    selected = SelectedRounds(rounds, chosen)
    reading = have_grades_read(project=member.project, rounds=selected.shown, actor=member.user, at=timezone.now())
    if reading is not None and reading.read_at is None:
        raise GradesNotRead(reading)
    return selected._replace(reading=reading)


def grades_page(part: str) -> Callable[[View], View]:
    """Decorate a page of grades, `part` in the row of pages: it shows the progress of reading until it is done."""

    def decorate(view: View) -> View:
        @wraps(view)
        def inner(request: HttpRequest, *args: Any, **named: Any) -> HttpResponseBase:
            try:
                return view(request, *args, **named)
            except GradesNotRead as missing:
                return _progress_page(request, part, missing)

        return inner

    return decorate


def _progress_page(request: HttpRequest, part: str, missing: GradesNotRead) -> HttpResponse:
    context = {**_shared(member_of(request), part), "reading": missing.reading}
    return render(request, "agreement/reading.html", context)


def frame(member: Member, part: str, selected: SelectedRounds) -> dict[str, Any]:
    """Context of every page of grades; `part` is its entry in the row of pages."""
    return {
        **_shared(member, part),
        "reading": selected.reading,
        "is_judge_only": agreement.is_judge_only(member),
        "exclusion_reason": partial(agreement.exclusion_reason, member),
        "rounds": selected.rounds,
        "chosen": selected.chosen,
        "of_round": f"round={selected.chosen.pk}" if selected.chosen else "",
    }


def _shared(member: Member, part: str) -> dict[str, Any]:
    section = PEOPLE if part == "people" and member.is_lead else SECTION
    return {"section": section, "part": part, "works_here": member.holds(*rules.PARTICIPANTS)}


def whole_number(text: str) -> int | None:
    """A part of an address as a number; None for an empty one. Raises Http404 for anything else."""
    if not text:
        return None
    if not text.isascii() or not text.isdigit() or len(text) > MOST_DIGITS:
        raise Http404("No such number.")
    return int(text)


def short_names(names: dict[int, str]) -> dict[int, str]:
    """First names where they are unique, as labels of a chart; "Person A" stays whole."""
    firsts = Counter(name.split()[0] for name in names.values() if name.split())
    return {
        pk: name.split()[0] if name.split() and firsts[name.split()[0]] == 1 else name for pk, name in names.items()
    }


def both(first: str, second: str) -> str:
    return f"You and {first}" if second == "You" else f"{first} and {second}"


def pair_row(pair: PairAgreement, alpha: Coefficient, label: str) -> dict[str, Any]:
    return {
        "first": pair.first,
        "second": pair.second,
        "label": label,
        "n": pair.n,
        "coefficients": [pair.percent, pair.kappa, pair.quadratic, alpha],
        "band": alpha.reads_as,
    }


def estimate(label: str, measure: str, coefficient: Coefficient, *, strong: bool = False) -> DrawnEstimate:
    """A row of a chart, with the same interval as in the tables: none where it is uninformative."""
    shown = coefficient.informative
    is_open = shown.value is not None and shown.interval is None
    return DrawnEstimate(label, shown.value, shown.low, shown.high, shown.n, measure, strong, shown.reason, is_open)


def coefficient_chart(name: str, rows: Sequence[DrawnEstimate]) -> SafeString:
    """From 0, or from the tenth below the lowest interval so that a negative coefficient shows, to 1."""
    lowest = min([0.0, *(row.low for row in rows if row.low is not None)])
    return plot(estimates(name, rows, low=floor(lowest * 5) / 5))
