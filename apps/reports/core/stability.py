"""Whether the order of runs stays the same under other people's grades. Knows no database.

Every run is scored under the released grades, under each person's, and, for two people who graded the same pairs,
under the higher and the lower of their grades there (Voorhees, Variations in relevance judgments and the measurement
of retrieval effectiveness, IPM 36, 2000: her union and intersection). Kendall's τ-b is how similar two orders
are. Runs that change places are listed with their difference under both sets of grades.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from apps.evaluation.core.annotator_grades import GivenGrades
from apps.metrics.columns import Floats, Ints, Judged
from apps.metrics.estimate import excludes_zero
from apps.metrics.measures.entries import Measure
from apps.metrics.statistics.bootstrap import DEFAULT_CONFIDENCE, DEFAULT_SEED, resampled_means
from apps.metrics.statistics.intervals import Interval, difference_interval
from apps.metrics.statistics.places import EQUAL_PLACES, kendall_taus, tau_interval
from apps.metrics.statistics.proportions import widened
from apps.metrics.statistics.rank_similarity import tau_ap
from apps.metrics.statistics.significance import summaries

TAU_RESAMPLES = 1_000
MOST_PEOPLE, MOST_PAIRS = 12, 12
RELEASED, PERSON, HIGHER, LOWER = "released", "person", "higher", "lower"


class StabilityGround(NamedTuple):
    """Grades to score under: the released ones, with `grade` in the rows `place`.

    `people` are indices among those who judged; `graded` counts the pairs that these people graded, `changed` those
    whose grade is not the released one.
    """

    kind: str
    people: tuple[int, ...]
    place: Ints
    grade: Ints
    graded: int
    changed: int


def grounds_of(judged: Judged, given: GivenGrades) -> list[StabilityGround]:
    """The released grades, each person's, and the higher and lower ones of two people, in this order.

    At most `MOST_PEOPLE` people, those who share most pairs with others, and at most `MOST_PAIRS` couples of them,
    again those who share most pairs. People who share none are included while there is room. Ties go by index.
    """
    empty = np.empty(0, dtype=np.int64)
    grounds = [StabilityGround(RELEASED, (), empty, empty, 0, 0)]
    chosen = most_shared(given, len(judged.grade))
    grounds += [_ground(judged, PERSON, (person,), *given.by(person)) for person in chosen]
    shared = [(pair, *_both(given, *pair)) for pair in combinations(chosen, 2)]
    shared = [row for row in shared if len(row[1])]
    for pair, place, first, second in sorted(shared, key=lambda row: (-len(row[1]), row[0]))[:MOST_PAIRS]:
        grounds.append(_ground(judged, HIGHER, pair, place, np.maximum(first, second)))
        grounds.append(_ground(judged, LOWER, pair, place, np.minimum(first, second)))
    return grounds


def most_shared(given: GivenGrades, size: int) -> list[int]:
    """The indices, ascending, of the people who share most pairs with somebody; at most `MOST_PEOPLE`."""
    is_shared = np.bincount(given.place, minlength=size)[given.place] > 1
    counts = np.bincount(given.person[is_shared], minlength=len(given.people))
    best = sorted(range(len(given.people)), key=lambda person: (-counts[person], person))[:MOST_PEOPLE]
    return sorted(best)


def _both(given: GivenGrades, first: int, second: int) -> tuple[Ints, Ints, Ints]:
    """The rows that both people graded, and the grades of each."""
    (one, grades), (other, others) = given.by(first), given.by(second)
    place, in_first, in_second = np.intersect1d(one, other, assume_unique=True, return_indices=True)
    return place, grades[in_first], others[in_second]


def _ground(judged: Judged, kind: str, people: tuple[int, ...], place: Ints, grade: Ints) -> StabilityGround:
    changed = int((judged.grade[place] != grade).sum())
    return StabilityGround(kind, people, place, grade, len(place), changed)


class Gap(NamedTuple):
    """By how much one run is ahead of another; negative when it is behind. No interval for fewer than two queries."""

    mean: float
    interval: Interval | None

    @property
    def is_settled(self) -> bool:
        return excludes_zero(self.interval)


class Swap(NamedTuple):
    """Two runs, as indices, that change places: `ahead` leads under the released grades and is behind under others."""

    ahead: int
    behind: int
    before: Gap
    after: Gap


class Order(NamedTuple):
    """The order of the runs under some grades by one measure, compared with the released grades.

    `means` has mean and interval of each run over `n` queries. `tau` is Kendall's τ-b between the two orders, None
    with fewer than two runs or when one order is all ties. `tau_ap` is τ_AP,b, which counts the top of the order more;
    None in reports of before it was computed.
    """

    means: list[tuple[float, Interval | None]]
    tau: float | None
    interval: Interval | None
    swaps: list[Swap]
    n: int
    tau_ap: float | None = None


def order_under(
    measure: Measure,
    before: Floats,
    after: Floats,
    *,
    confidence: float = DEFAULT_CONFIDENCE,
    seed: int = DEFAULT_SEED,
    resamples: int = TAU_RESAMPLES,
) -> Order:
    """The order under other grades (`after`), compared with that under the released grades (`before`).

    Both are values by one measure, shape (queries, runs). Queries without a value for any run are left out. τ
    uses the same resampled queries for both, so runs and grades stay paired. Means equal to twelve places are tied.
    """
    complete = ~np.isnan(before + after).any(axis=1)
    before, after = before[complete], after[complete]
    n, runs = before.shape
    if n == 0:
        return Order([], None, None, [], 0)
    means = [(one.mean or 0.0, one.interval) for one in summaries([measure] * runs, after, confidence=confidence)]
    old, new = _rounded(before.mean(axis=0)), _rounded(np.array([mean for mean, _ in means]))
    draws = _rounded(resampled_means(np.hstack((before, after)), seed=seed, resamples=resamples)) if n > 1 else None
    share = confidence if draws is None else widened(confidence, n)
    tau = kendall_taus(old[None], new[None])[0]
    spread = None if draws is None else tau_interval(tau, kendall_taus(draws[:, :runs], draws[:, runs:]), share)
    swaps = _swaps(old, new, before, after, confidence)
    return Order(means, None if np.isnan(tau) else float(tau), spread, swaps, n, tau_ap(old, new))


def _rounded(means: Floats) -> Floats:
    """Rounded, so that means that differ only by the order of summation are equal."""
    return np.round(means, EQUAL_PLACES)


def _swaps(old: Floats, new: Floats, before: Floats, after: Floats, confidence: float) -> list[Swap]:
    """The runs that change places, the largest lost lead first."""
    runs = len(old)
    swaps = []
    for ahead in range(runs):
        for behind in range(runs):
            if old[ahead] > old[behind] and new[ahead] < new[behind]:
                gaps = [_gap(values[:, ahead] - values[:, behind], confidence) for values in (before, after)]
                swaps.append(Swap(ahead, behind, *gaps))
    return sorted(swaps, key=lambda swap: (-swap.before.mean, swap.ahead, swap.behind))


def _gap(change: Floats, confidence: float) -> Gap:
    return Gap(math.fsum(change) / len(change), difference_interval(change, confidence))


def facts_of(order: Order) -> dict[str, Any]:
    """The order as values for JSON; `order_from` is the inverse."""
    return {
        **order._asdict(),
        "swaps": [
            {**swap._asdict(), "before": swap.before._asdict(), "after": swap.after._asdict()} for swap in order.swaps
        ],
    }


def order_from(facts: dict[str, Any]) -> Order:
    """The order from the values that `facts_of` returned."""
    means = [(mean, _interval(bounds)) for mean, bounds in facts["means"]]
    swaps = [
        Swap(row["ahead"], row["behind"], _gap_from(row["before"]), _gap_from(row["after"])) for row in facts["swaps"]
    ]
    return Order(means, facts["tau"], _interval(facts["interval"]), swaps, facts["n"], facts.get("tau_ap"))


def _gap_from(facts: dict[str, Any]) -> Gap:
    return Gap(facts["mean"], _interval(facts["interval"]))


def _interval(bounds: Sequence[float] | None) -> Interval | None:
    return None if bounds is None else (bounds[0], bounds[1])


class PersonOrder(NamedTuple):
    """The order under one person's grades; `words` is the person's name or letter."""

    words: str
    order: Order


def verdict(tags: Sequence[str], under: Sequence[PersonOrder], measure: str) -> str:
    """The leading sentence of the report; `under` has the order under each person's grades."""
    if len(tags) < 2:
        return "One run has nothing to swap ranks with. Start a new report with two runs or more."
    if not under:
        return "No grade of this version has an annotator’s name, so the runs cannot be scored by annotator."
    moved = [one for one in under if one.order.swaps]
    if not moved:
        return f"The order of {len(tags)} runs by {measure} is the same under the grades of {_everybody(len(under))}."
    pairs = {(swap.ahead, swap.behind): swap for one in moved for swap in one.order.swaps}
    clear = sum(swap.before.is_settled for swap in pairs.values())
    (ahead, behind), _ = next(iter(pairs.items()))
    if len(pairs) == 1:
        words = f"{tags[ahead]} is ahead of {tags[behind]} by {measure}, and behind it under the grades of"
        words = f"{words} {moved[0].words}" if len(moved) == 1 else f"{words} {len(moved)} of {len(under)} people"
    else:
        words = f"{len(pairs)} pairs of runs swap ranks by {measure} under somebody’s grades"
    return f"{words}; {_clear_words(len(pairs), clear)}."


def _everybody(people: int) -> str:
    return "the one person who judged" if people == 1 else f"each of {people} people"


def _clear_words(pairs: int, clear: int) -> str:
    """How many of the pairs that swap ranks differ clearly under the released grades."""
    if pairs == 1:
        return f"the released grades show {'a' if clear else 'no'} clear difference between the two"
    if clear == 0:
        return "the released grades show no clear difference in any of them"
    return f"the released grades show a clear difference in {clear} of them"
