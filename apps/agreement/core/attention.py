"""Whether grades agree enough, and who may need a lead: people who are slow, too fast, or far from others. No database.

The rule is described in docs/reference/agreement-pages.md. Nobody is marked without a figure and its count.
"""

from collections.abc import Sequence
from enum import StrEnum
from statistics import median
from typing import NamedTuple

from apps.common.text.wording import count, interval, number, percent, plural
from apps.judging.core.eta import Workload
from apps.metrics.agreement.results import FEWEST_CLUSTERS
from apps.metrics.estimate import Estimate, excludes_zero

BAR = 0.6
"""The band of κ and α above which agreement is acceptable."""
EQUAL_BAR = 0.7
"""The share of equal grades below which a team tightens its definitions first: a rule of thumb of the field."""
NO_PAIR = "No pair has two grades."


def verdict_of(figure: Estimate, who: str = "annotators", items: str = "pairs", queries: int | None = None) -> str:
    """Yes, not yet, perhaps or not known, with the figure, its interval and the bar.

    `queries` counts those that the interval is over; None where it is over items.
    """
    if figure.value is None:
        reason = figure.reason or NO_PAIR
        return f"Not known yet: {reason[0].lower()}{reason[1:]}"
    value = number(figure.value, 2)
    if figure.interval is None:
        few = f"{count(figure.n)} {items}" + ("" if queries is None else f" of {plural(queries, 'query', 'queries')}")
        return f"Not known yet: {few} are too few to tell how far {who} agree; so far it is {value}."
    at = f"{who} agree at {value}, {interval(figure.interval)}"
    rough = rough_interval(queries)
    if figure.value < BAR:
        return f"Not yet: {at}. The bar is {BAR}.{rough}"
    if figure.interval[0] < BAR:
        more = items if queries is None else "queries"
        return f"Perhaps: {at}. The bar of {BAR} lies inside, so more {more} judged twice would settle it.{rough}"
    return f"Yes: {at}. The bar is {BAR}.{rough}"


def rough_interval(queries: int | None) -> str:
    """That an interval is over too few queries, as a further sentence; "" where it is not."""
    if queries is None or queries >= FEWEST_CLUSTERS:
        return ""
    return (
        f" The interval comes from {plural(queries, 'query', 'queries')} only; with fewer than {FEWEST_CLUSTERS} it is"
        " a rough guide."
    )


def tightening_of(equal: Estimate) -> str:
    """What too few equal grades call for, whatever α says; "" where there are enough, or no pair has two grades."""
    if equal.value is None or equal.value >= EQUAL_BAR:
        return ""
    return (
        f"{percent(equal.value, 0)} of these pairs have equal grades. Below {percent(EQUAL_BAR, 0)} the definitions of"
        " the grades need to be tightened, whatever α says."
    )


FAST_MS = 3_000
FEWEST_FAST = 5
FAST_SHARE = 0.1
FEWEST_TIMED = 10
SLOW_TIMES = 2.0
IDLE_DAYS = 7
FEWEST_SHARED = 10
FAR = 0.5


class Word(StrEnum):
    """The three words; most urgent first."""

    FAST = "too fast"
    FAR = "far from others"
    SLOW = "slow"


class Mark(NamedTuple):
    """What is unusual about a person: one of three words, and the figure that it rests on."""

    word: Word
    figure: str

    def __str__(self) -> str:
        return f"{self.word}: {self.figure}"


def marks_of(pace: Workload, others_ms: Sequence[float], lean: Estimate, *, is_open: bool) -> list[Mark]:
    """What is unusual about a person, most urgent first; empty when they are as expected.

    `others_ms` are the mean times of the others in the round, `lean` how many grades higher than others the person
    grades. Only in an open round is anybody slow.
    """
    found = [_too_fast(pace), _far(lean), _slow(pace, others_ms) if is_open else None]
    return [mark for mark in found if mark]


def _too_fast(pace: Workload) -> Mark | None:
    """Five pairs or more, and a tenth of those timed, took less than three seconds."""
    if pace.fast < FEWEST_FAST or pace.fast < FAST_SHARE * pace.timed:
        return None
    return Mark(Word.FAST, f"{count(pace.fast)} of {count(pace.timed)} pairs under {FAST_MS // 1000} s")


def _far(lean: Estimate) -> Mark | None:
    """Half a grade or more from others on at least ten pairs, with an interval that excludes 0."""
    if lean.value is None or lean.n < FEWEST_SHARED or abs(lean.value) < FAR or not excludes_zero(lean.interval):
        return None
    low, high = sorted(abs(end) for end in lean.interval or ())
    side = "higher" if lean.value > 0 else "lower"
    figure = f"{number(abs(lean.value), 1)} {side}, {number(low, 1)} to {number(high, 1)}, on {count(lean.n)} pairs"
    return Mark(Word.FAR, figure)


def _slow(pace: Workload, others_ms: Sequence[float]) -> Mark | None:
    """Nothing in a week although pairs are left, or at least twice the usual time of the others for a pair."""
    if not pace.to_go:
        return None
    if not pace.lately and pace.days >= IDLE_DAYS:
        return Mark(Word.SLOW, f"nothing in {pace.days} days, {count(pace.to_go)} to go")
    usual = median(others_ms) if others_ms else None
    if usual is None or pace.mean_ms is None or pace.timed < FEWEST_TIMED or pace.mean_ms < SLOW_TIMES * usual:
        return None
    times = number(pace.mean_ms / usual, 1)
    return Mark(Word.SLOW, f"{times} times the others’ time a pair, on {count(pace.timed)} pairs")
