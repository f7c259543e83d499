"""One person's grades over the weeks: whether they lean, how they agree, how long a pair takes. No database."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr, stdtrit

from apps.agreement.coefficients import MISSING, Coefficient, category_counts, krippendorff_alpha
from apps.agreement.ratings import Ratings

FEWEST_FOR_A_MEDIAN = 6


class Lean(NamedTuple):
    """By how much a person grades higher than the others do, in grades, as a mean over `n` items.

    `interval` is Student's; None where `n` is below 2 or all differences are the same, and `reason` says which.
    """

    value: float | None
    interval: tuple[float, float] | None
    n: int
    reason: str = ""


class Median(NamedTuple):
    """The median of `n` values. `interval` lies between two of the values, and covers at least 95 %."""

    value: float | None
    interval: tuple[float, float] | None
    n: int


class Week(NamedTuple):
    """The week that begins on a Monday: how a person leaned and agreed in it, and the milliseconds a pair took."""

    begins: date
    lean: Lean
    alpha: Coefficient
    pace: Median


def week_of(when: datetime) -> date:
    """The Monday of the week of this moment, in UTC."""
    day = when.astimezone(UTC).date()
    return day - timedelta(days=day.weekday())


def leans(ratings: Ratings) -> NDArray[np.float64]:
    """Items by people: each grade less the mean of the others' of that item; nan without own or others' grade."""
    is_graded = ratings.codes != MISSING
    grades = np.where(is_graded, np.asarray(ratings.grades, dtype=float)[ratings.codes], 0.0)
    others = is_graded.sum(axis=1, keepdims=True) - 1
    of_others = (grades.sum(axis=1, keepdims=True) - grades) / np.maximum(others, 1)
    found: NDArray[np.float64] = np.where(is_graded & (others > 0), grades - of_others, np.nan)
    return found


def lean_of(differences: NDArray[np.float64], confidence: float = 0.95) -> Lean:
    """The mean of the differences that are there, with Student's interval."""
    found = differences[np.isfinite(differences)]
    n = len(found)
    if n == 0:
        return Lean(None, None, 0, "No pair that somebody else graded too.")
    mean = float(found.mean())
    if n == 1:
        return Lean(mean, None, 1, "One pair has no interval.")
    spread = float(found.std(ddof=1))
    if spread == 0:
        return Lean(mean, None, n, "All differences are the same, so there is no interval.")
    half = float(stdtrit(n - 1, (1 + confidence) / 2)) * spread / float(np.sqrt(n))
    return Lean(mean, (mean - half, mean + half), n)


def median_of(values: Sequence[float], confidence: float = 0.95) -> Median:
    """The median with an interval of order statistics, which asks nothing of the shape of the values.

    The ends are the j-th value from either end, j as large as the binomial distribution allows (David and Nagaraja,
    Order Statistics, 2003, section 7.1). Fewer than six values allow none.
    """
    found = np.sort(np.asarray(values, dtype=float))
    n = len(found)
    if n == 0:
        return Median(None, None, 0)
    if n < FEWEST_FOR_A_MEDIAN:
        return Median(float(np.median(found)), None, n)
    places = int((bdtr(np.arange(n // 2), n, 0.5) <= (1 - confidence) / 2).sum())
    return Median(float(np.median(found)), (float(found[places - 1]), float(found[n - places])), n)


def weeks_of(
    ratings: Ratings,
    person: int,
    graded: Mapping[tuple[int, int], date],
    paces: Mapping[date, Sequence[int]],
    most: int,
) -> list[Week]:
    """The last weeks in which the person graded, at most `most` of them, oldest first.

    `graded` tells the week in which the person graded an item, by query and text; `paces` the milliseconds of the
    pairs of each week. α is over the items the person graded in that week, everybody's grades of them counted.
    """
    is_known = person in ratings.people
    place = ratings.people.index(person) if is_known else 0
    differences = leans(ratings)[:, place] if is_known else np.full(len(ratings.codes), np.nan)
    own = [graded.get((query, text)) for query, text in ratings.items.tolist()]
    found = []
    for week in sorted({*paces, *graded.values()})[-most:]:
        inside = np.array([begins == week for begins in own], dtype=bool)
        counts = category_counts(ratings.codes[inside], len(ratings.grades))
        alpha = krippendorff_alpha(counts, level="ordinal", values=ratings.grades)
        found.append(Week(week, lean_of(differences[inside]), alpha, median_of(paces.get(week, []))))
    return found
