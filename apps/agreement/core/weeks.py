"""Grades as columns, and one person's by week: strictness, agreement with others, time per pair. No database."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, timedelta
from io import BytesIO
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from apps.metrics.agreement.alpha import krippendorff_alpha
from apps.metrics.agreement.counting import MISSING, category_counts
from apps.metrics.agreement.ratings import Dated, Ratings, dated_ratings
from apps.metrics.agreement.results import Coefficient
from apps.metrics.estimate import Estimate

EPOCH = date(1970, 1, 1)
DAYS_TO_MONDAY = 3  # 1970-01-01 was a Thursday

Row = tuple[int, int, int, int, str]


class Columns(NamedTuple):
    """One row per grade, oldest first. `table` holds query, text, person and grade; `days` counts from 1970-01-01."""

    table: NDArray[np.int64]
    days: NDArray[np.int32]

    def rated(self, scale: Sequence[int]) -> Dated:
        """The ratings on this scale, with their days."""
        return dated_ratings(self.table, self.days, scale)


def columns_from(rows: Iterable[Row]) -> Columns:
    """Columns from (query, text, person, grade, "2026-03-02") rows."""
    every = list(zip(*rows, strict=True)) or [()] * 5
    table = np.column_stack([np.array(column, dtype=np.int64) for column in every[:4]])
    known = {day: (date.fromisoformat(day) - EPOCH).days for day in set(every[4])}
    return Columns(table, np.array([known[day] for day in every[4]], dtype=np.int32))


def packed(columns: Columns) -> bytes:
    """The columns as bytes that contain no code (nothing is unpickled)."""
    whole = BytesIO()
    np.savez_compressed(whole, table=columns.table, days=columns.days)
    return whole.getvalue()


def unpacked(data: bytes) -> Columns:
    """The inverse of `packed`. Raises ValueError for any other bytes."""
    with np.load(BytesIO(data), allow_pickle=False) as whole:
        return Columns(whole["table"], whole["days"])


def mondays(days: NDArray[np.int32]) -> NDArray[np.int32]:
    """The Monday of the week of each day, both counted from 1970-01-01."""
    begins: NDArray[np.int32] = days - (days + DAYS_TO_MONDAY) % 7
    return begins


def date_of(day: int) -> date:
    return EPOCH + timedelta(days=day)


FEWEST_FOR_A_MEDIAN = 6
FEW_FOR_A_MEDIAN = f"Fewer than {FEWEST_FOR_A_MEDIAN} values have no interval of their median."
NO_WEEK = np.iinfo(np.int32).min
NOTHING = np.zeros(0, dtype=np.int64)


class AnnotatorWeek(NamedTuple):
    """One person's lean and agreement in the week that begins on a Monday, and the milliseconds that a pair took.

    `lean` is how many grades higher than others they grade, as `leaning_of` computes it; `pace` the median of their
    times.
    """

    begins: date
    lean: Estimate
    alpha: Coefficient
    pace: Estimate


def monday_of(day: date) -> date:
    return day - timedelta(days=day.weekday())


def leans(ratings: Ratings) -> NDArray[np.float64]:
    """Items by people: each grade minus the mean of others' grades of that item; nan without own or others' grade."""
    is_graded = ratings.codes != MISSING
    grades = np.where(is_graded, np.asarray(ratings.grades, dtype=float)[ratings.codes], 0.0)
    others = is_graded.sum(axis=1, keepdims=True) - 1
    of_others = (grades.sum(axis=1, keepdims=True) - grades) / np.maximum(others, 1)
    result: NDArray[np.float64] = np.where(is_graded & (others > 0), grades - of_others, np.nan)
    return result


def lean_of(differences: NDArray[np.float64], confidence: float = 0.95) -> Estimate:
    """The mean of the differences that are not nan, with Student's interval."""
    from scipy.special import stdtrit  # loaded on use: SciPy is slow to load

    defined = differences[np.isfinite(differences)]
    n = len(defined)
    if n == 0:
        return Estimate.of(None, None, 0, reason="Nobody else graded these pairs.")
    mean = float(defined.mean())
    if n == 1:
        return Estimate.of(mean, None, 1, reason="One pair is too few for an interval.")
    spread = float(defined.std(ddof=1))
    if spread == 0:
        return Estimate.of(mean, None, n, reason="All differences are the same, so there is no interval.")
    half = float(stdtrit(n - 1, (1 + confidence) / 2)) * spread / float(np.sqrt(n))
    return Estimate.of(mean, (mean - half, mean + half), n, "Student")


def median_of(values: Sequence[float] | NDArray[np.int64]) -> Estimate:
    """The median with a 95 % interval of order statistics, which needs no assumption about the distribution.

    The ends are the j-th value from either end, j as large as the binomial distribution allows (David and Nagaraja,
    Order Statistics, 2003, section 7.1). Undefined for fewer than six values.
    """
    from scipy.special import bdtr  # loaded on use: SciPy is slow to load

    ordered = np.sort(np.asarray(values, dtype=float))
    n = len(ordered)
    if n == 0:
        return Estimate.of(None, None, 0, reason="No pair was timed.")
    if n < FEWEST_FOR_A_MEDIAN:
        return Estimate.of(float(np.median(ordered)), None, n, reason=FEW_FOR_A_MEDIAN)
    places = int((bdtr(np.arange(n // 2), n, 0.5) <= 0.025).sum())
    ends = float(ordered[places - 1]), float(ordered[n - places])
    return Estimate.of(float(np.median(ordered)), ends, n, "order statistics")


def weeks_of(
    dated: Dated,
    person: int,
    paces: Mapping[date, NDArray[np.int64]],
    most: int,
) -> list[AnnotatorWeek]:
    """The last weeks in which the person graded, at most `most` of them, oldest first.

    `paces` are the milliseconds of the pairs of each week, by its Monday. α is over the items the person graded in that
    week, with everybody's grades of them.
    """
    ratings = dated.ratings
    begun, differences = _own_weeks(dated, person)
    graded = {date_of(day) for day in np.unique(begun[begun != NO_WEEK]).tolist()}
    weeks = []
    for week in sorted({*paces, *graded})[-most:]:
        inside = begun == (week - EPOCH).days
        counts = category_counts(ratings.codes[inside], len(ratings.grades))
        alpha = krippendorff_alpha(counts, level="ordinal", values=ratings.grades, clusters=ratings.clusters[inside])
        weeks.append(AnnotatorWeek(week, lean_of(differences[inside]), alpha, median_of(paces.get(week, NOTHING))))
    return weeks


def _own_weeks(dated: Dated, person: int) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """For each item, the Monday of the week in which the person graded it (NO_WEEK for none), and the person's lean."""
    ratings = dated.ratings
    if person not in ratings.people:
        return np.full(len(ratings.codes), NO_WEEK, dtype=np.int32), np.full(len(ratings.codes), np.nan)
    place = ratings.people.index(person)
    is_graded = ratings.codes[:, place] != MISSING
    begun = np.where(is_graded, mondays(dated.days[:, place]), NO_WEEK).astype(np.int32)
    return begun, leans(ratings)[:, place]
