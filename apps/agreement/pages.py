"""What the pages of agreement share: the round that is looked at, names beside charts, coefficients as rows."""

from collections import Counter
from collections.abc import Sequence
from functools import partial
from math import floor
from typing import Any, NamedTuple

from django.http import Http404, HttpRequest
from django.utils.safestring import SafeString

from apps.accounts.selectors import Member
from apps.agreement import rules, selectors
from apps.agreement.coefficients import Coefficient, band
from apps.agreement.ratings import PairAgreement
from apps.common.charts import estimates, plot
from apps.common.svg import Estimate
from apps.judging.models import Round

SECTION = "Agreement"
LABEL_LENGTH = 22
MOST_DIGITS = 18


class Looked(NamedTuple):
    """The rounds that may be seen, the one that was chosen among them, and those whose figures are shown."""

    rounds: list[Round]
    chosen: Round | None

    @property
    def shown(self) -> list[Round]:
        return [self.chosen] if self.chosen else self.rounds


def looked_at(request: HttpRequest, member: Member) -> Looked:
    """What `round` in the address asks for: one round, or all that this member may see."""
    rounds = list(selectors.rounds_for(member))
    number = whole_number(request.GET.get("round", ""))
    if number is None:
        return Looked(rounds, None)
    chosen = next((round_ for round_ in rounds if round_.pk == number), None)
    if chosen is None:
        raise Http404("No such round.")
    return Looked(rounds, chosen)


def frame(member: Member, part: str, looked: Looked) -> dict[str, Any]:
    """What every page of grades needs: `part` is its word in the sub-navigation."""
    return {
        "section": SECTION,
        "part": part,
        "works_here": member.holds(*rules.PARTICIPANTS),
        "is_bound": selectors.is_bound(member),
        "is_kept_from_rounds": partial(selectors.is_kept_from_rounds, member),
        "rounds": looked.rounds,
        "chosen": looked.chosen,
        "of_round": f"round={looked.chosen.pk}" if looked.chosen else "",
    }


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


def pair_row(pair: PairAgreement, label: str) -> dict[str, Any]:
    value = pair.quadratic.value
    return {
        "first": pair.first,
        "second": pair.second,
        "label": label,
        "n": pair.n,
        "coefficients": [pair.percent, pair.kappa, pair.quadratic],
        "band": "" if value is None else band(value),
    }


def estimate(label: str, measure: str, found: Coefficient, *, strong: bool = False) -> Estimate:
    low, high = found.interval or (None, None)
    return Estimate(label, found.value, low, high, found.n, measure, strong, found.reason)


def coefficient_chart(name: str, rows: Sequence[Estimate]) -> SafeString:
    """From 0 to 1, or from the tenth below the lowest interval: a negative coefficient is seen as one."""
    lowest = min([0.0, *(row.low for row in rows if row.low is not None)])
    return plot(estimates(name, rows, low=floor(lowest * 5) / 5))
