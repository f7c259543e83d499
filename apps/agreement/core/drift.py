"""Drift of grading over the weeks: self-agreement and the mean grade. No database.

A week's figure depends on the pairs judged in it, so a change in a line alone is not reported. Grades have shifted when
the *same* pairs got other grades recently than before. Self-agreement has dropped when the interval of the change
excludes 0, at 99 %, since the page is read every day.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import date, timedelta
from math import sqrt
from statistics import fmean, stdev
from typing import NamedTuple

import numpy as np

from apps.agreement.core.weeks import EPOCH, date_of, lean_of, monday_of, mondays
from apps.common.text.wording import number, percent
from apps.metrics.agreement.counting import MISSING
from apps.metrics.agreement.ratings import Dated, Rate
from apps.metrics.estimate import Estimate
from apps.metrics.statistics.proportions import student_quantile, wilson

WEEKS = 12
LATE = 4
LEAST_WEEKS = 3
FEWEST_IN_A_WEEK = 5
FEWEST = 20
SURE = 0.99
WEEK = timedelta(days=7)


class DriftCheck(NamedTuple):
    """A pair judged blindly a second time in the week of this Monday: the person's first grade and their second."""

    week: date
    first: int
    again: int


class FigureWeek(NamedTuple):
    """The figure of the week that begins on this Monday, from `n` grades."""

    begins: date
    value: float
    n: int


class DriftLine(NamedTuple):
    """Weeks with enough grades, oldest first.

    `usual` is the range of 19 weeks in 20, computed from those before the last four; None where these are fewer than
    three.
    """

    weeks: list[FigureWeek]
    usual: tuple[float, float] | None


class ConsistencyDrop(NamedTuple):
    """How many of the repeated pairs got the same grade both times, before and recently.

    `interval` is Newcombe's, of the change; None where no pair was repeated before or recently.
    """

    before: Rate
    lately: Rate
    interval: tuple[float, float] | None


def first_week(today: date) -> date:
    """The Monday of the first of the twelve weeks that are read."""
    return monday_of(today) - (WEEKS - 1) * WEEK


def lately_from(today: date) -> date:
    """The Monday of the first of the last four weeks."""
    return monday_of(today) - (LATE - 1) * WEEK


def alike_by_week(checks: Iterable[DriftCheck]) -> list[FigureWeek]:
    """The share of repeated pairs with the same grade both times, by week."""
    by_week: dict[date, list[bool]] = defaultdict(list)
    for check in checks:
        by_week[check.week].append(check.first == check.again)
    return [FigureWeek(week, fmean(alike), len(alike)) for week, alike in sorted(by_week.items())]


def mean_by_week(dated: Dated, since: date) -> list[FigureWeek]:
    """The mean grade given in each week to pairs that two people or more graded."""
    grades, weeks, _ = _cells(dated)
    is_recent = weeks >= (since - EPOCH).days
    begun, place = np.unique(weeks[is_recent], return_inverse=True)
    counts, sums = np.bincount(place), np.bincount(place, weights=grades[is_recent])
    return [
        FigureWeek(date_of(day), float(sums[at] / counts[at]), int(counts[at])) for at, day in enumerate(begun.tolist())
    ]


def grade_shift(dated: Dated, lately: date) -> Estimate:
    """By how much the same pairs were graded higher since `lately` than before: a mean over pairs graded in both."""
    grades, weeks, items = _cells(dated)
    is_late = weeks >= (lately - EPOCH).days
    size = len(dated.ratings.items)
    means = []
    with np.errstate(invalid="ignore"):
        for inside in (is_late, ~is_late):
            sums = np.bincount(items[inside], weights=grades[inside], minlength=size)
            means.append(sums / np.bincount(items[inside], minlength=size))
    return lean_of(means[0] - means[1], SURE)


def _cells(dated: Dated) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Grade, Monday and item of each grade of a pair that two people or more graded."""
    ratings = dated.ratings
    is_graded = ratings.codes != MISSING
    is_shared = is_graded & (is_graded.sum(axis=1, keepdims=True) >= 2)
    item, person = np.nonzero(is_shared)
    grades = np.asarray(ratings.grades, dtype=float)[ratings.codes[item, person]]
    return grades, mondays(dated.days[item, person]), item


def consistency_drop(checks: Sequence[DriftCheck], lately: date) -> ConsistencyDrop:
    """Self-agreement since `lately`, compared with before."""
    old = [check.first == check.again for check in checks if check.week < lately]
    new = [check.first == check.again for check in checks if check.week >= lately]
    before, now = Rate(sum(old), len(old)), Rate(sum(new), len(new))
    return ConsistencyDrop(before, now, change_of(before, now))


def change_of(before: Rate, now: Rate, confidence: float = SURE) -> tuple[float, float] | None:
    """The interval of `now` minus `before`; None where either has no pairs.

    Newcombe, "Interval estimation for the difference between independent proportions", Statistics in Medicine 17
    (1998), method 10.
    """
    was, is_ = wilson(before.hits, before.n, confidence), wilson(now.hits, now.n, confidence)
    if was is None or is_ is None:
        return None
    old, new = before.hits / before.n, now.hits / now.n
    down = sqrt((new - is_[0]) ** 2 + (was[1] - old) ** 2)
    up = sqrt((is_[1] - new) ** 2 + (old - was[0]) ** 2)
    return new - old - down, new - old + up


def line_of(weeks: Iterable[FigureWeek], lately: date, *, low: float, high: float) -> DriftLine | None:
    """The weeks that have enough grades; None for fewer than three. Values are in low..high."""
    enough = [week for week in weeks if week.n >= FEWEST_IN_A_WEEK]
    if len(enough) < LEAST_WEEKS:
        return None
    return DriftLine(enough, _usual([week.value for week in enough if week.begins < lately], low, high))


def _usual(values: Sequence[float], low: float, high: float) -> tuple[float, float] | None:
    """Student's prediction interval for one more value, cut to low..high."""
    if len(values) < LEAST_WEEKS:
        return None
    half = student_quantile(0.95, len(values) - 1) * stdev(values) * sqrt(1 + 1 / len(values))
    return max(low, fmean(values) - half), min(high, fmean(values) + half)


def advice(shift: Estimate, drop: ConsistencyDrop) -> str:
    """What to do, in a sentence or two; empty where neither change is certain."""
    clauses = [words for words in (_shift_words(shift), _drop_words(drop)) if words]
    if not clauses:
        return ""
    what = ", and ".join(clauses)
    return f"{what[0].upper()}{what[1:]}. Discuss such pairs together before the next version."


def _shift_words(shift: Estimate) -> str:
    if shift.value is None or shift.interval is None or shift.n < FEWEST:
        return ""
    low, high = shift.interval
    if low <= 0 <= high:
        return ""
    direction = "higher" if shift.value > 0 else "lower"
    by = number(abs(shift.value), 2)
    return f"the same pairs got grades {by} {direction} in the last four weeks than before (n {shift.n:,})"


def _drop_words(drop: ConsistencyDrop) -> str:
    if drop.interval is None or drop.lately.n < FEWEST or drop.interval[1] >= 0:
        return ""
    now, was = (f"{percent(rate.value, 0)} of {rate.n:,}" for rate in (drop.lately, drop.before))
    return f"people repeat their own grade less often: on {now} repeated pairs, before on {was}"
