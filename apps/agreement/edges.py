"""What the pages of agreement share: the round that is looked at, names beside charts, coefficients as rows."""

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

from apps.accounts.edges.access import View, member_of
from apps.accounts.selectors import Member
from apps.agreement.actions import have_grades_read
from apps.agreement.models import ReadGrades
from apps.agreement.selectors import agreement
from apps.agreement.selectors.grade_cache import GradesNotRead
from apps.calibration import rules
from apps.common.drawing.charts import estimates, plot
from apps.common.drawing.svg import DrawnEstimate
from apps.judging.models import Round
from apps.metrics.agreement import Coefficient
from apps.metrics.agreement.ratings import PairAgreement

SECTION = "Agreement"
LABEL_LENGTH = 22
MOST_DIGITS = 18


class Looked(NamedTuple):
    """The rounds that may be seen, the one that was chosen among them, and those whose figures are shown.

    `reading` is what their figures come from where there are very many grades.
    """

    rounds: list[Round]
    chosen: Round | None
    reading: ReadGrades | None = None

    @property
    def shown(self) -> list[Round]:
        return [self.chosen] if self.chosen else self.rounds


def looked_at(request: HttpRequest, member: Member) -> Looked:
    """What `round` in the address asks for: one round, or all that this member may see.

    Has very many grades read when there are newer ones. Raises GradesNotRead until they are for the first time.
    """
    rounds = agreement.rounds_for(member)
    number = whole_number(request.GET.get("round", ""))
    chosen = next((round_ for round_ in rounds if round_.pk == number), None)
    if number is not None and chosen is None:
        raise Http404("No such round.")
    looked = Looked(rounds, chosen)
    reading = have_grades_read(project=member.project, rounds=looked.shown, actor=member.user, at=timezone.now())
    if reading is not None and reading.read_at is None:
        raise GradesNotRead(reading)
    return looked._replace(reading=reading)


def of_grades(part: str) -> Callable[[View], View]:
    """A page of grades under this word of the sub-navigation: until they are read it shows how far that is."""

    def decorate(view: View) -> View:
        @wraps(view)
        def inner(request: HttpRequest, *args: Any, **named: Any) -> HttpResponseBase:
            try:
                return view(request, *args, **named)
            except GradesNotRead as missing:
                return _being_read(request, part, missing)

        return inner

    return decorate


def _being_read(request: HttpRequest, part: str, missing: GradesNotRead) -> HttpResponse:
    context = {**_shared(member_of(request), part), "reading": missing.reading}
    return render(request, "agreement/reading.html", context)


def frame(member: Member, part: str, looked: Looked) -> dict[str, Any]:
    """What every page of grades needs: `part` is its word in the sub-navigation."""
    return {
        **_shared(member, part),
        "reading": looked.reading,
        "is_bound": agreement.is_bound(member),
        "kept_from": partial(agreement.kept_from, member),
        "rounds": looked.rounds,
        "chosen": looked.chosen,
        "of_round": f"round={looked.chosen.pk}" if looked.chosen else "",
    }


def _shared(member: Member, part: str) -> dict[str, Any]:
    return {"section": SECTION, "part": part, "works_here": member.holds(*rules.PARTICIPANTS)}


def whole_number(text: str) -> int | None:
    """The number that a part of an address says; None for none. Anything else is a page that is not there."""
    if not text:
        return None
    if not text.isascii() or not text.isdigit() or len(text) > MOST_DIGITS:
        raise Http404("No such number.")
    return int(text)


def short_names(names: dict[int, str]) -> dict[int, str]:
    """First names where nobody else has the same, for labels beside a chart; "Person A" stays whole."""
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


def estimate(label: str, measure: str, found: Coefficient, *, strong: bool = False) -> DrawnEstimate:
    low, high = found.interval or (None, None)
    return DrawnEstimate(label, found.value, low, high, found.n, measure, strong, found.reason)


def coefficient_chart(name: str, rows: Sequence[DrawnEstimate]) -> SafeString:
    """From 0 to 1, or from the tenth below the lowest interval: a negative coefficient is seen as one."""
    lowest = min([0.0, *(row.low for row in rows if row.low is not None)])
    return plot(estimates(name, rows, low=floor(lowest * 5) / 5))
