"""Bootstrap intervals over queries, and, where several people judged, over them too.

The interval of a mean uses the exact bootstrap distribution (`every_draw`), and no seed. Figures made of several means,
an effect size or a ratio, are resampled, and one set of draws is used for all columns, so that they stay paired. Every
sum is exact (`apps.metrics.statistics.exact_bootstrap`): the same values and seed give the same bytes on any number of
threads. Intervals of few queries, and those whose spread few queries make, use percentiles further out
(`apps.metrics.statistics.proportions`), since plain ones cover less often than they claim. Sources: Efron and
Tibshirani, An Introduction to the Bootstrap, 1993, chapters 13 and 14; Davison and Hinkley, Bootstrap Methods and their
Application, 1997 (strata).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from apps.metrics.statistics.exact_bootstrap import NOISE, Drawn, every_draw, on_grid
from apps.metrics.statistics.proportions import freedom_of_spread, student_quantile, widened

DEFAULT_SEED = 20
"""Of every bootstrap, randomisation test and sample over stored data. What is stored with a seed of its own (the plan
of a round, a pool, a split, an index) has its default in its model's module."""

Flags = NDArray[np.bool_]

ROUNDING = 1e-9


class PersonEffect(NamedTuple):
    """The uncertainty of a mean over `queries` queries because other people could have judged, without resampling.

    A score under one person's grades is modelled as the sum of three parts: the query's level, the same for everybody;
    the person's effect, the same in every query; and chance. Their variances are estimated by the method of moments
    (Searle, Casella and McCulloch, Variance Components, 1992), so people may have judged different queries and
    different numbers of them.

    `variance` is that of the mean; `chance` the part of it due to chance, which the spread over queries includes too;
    `freedom` the degrees of freedom of `variance`. In a full table `variance` is that of the people's means divided by
    their number, and `freedom` is their number less one.
    """

    queries: int
    variance: float
    chance: float
    freedom: int

    def reach(self, over_queries: float, confidence: float, read_with: int | None = None) -> float:
        """The distance of an end of the interval over queries and people from the mean, from that over queries alone.

        Variances add, and chance counts once. The quantile is between Student's for queries and Student's for people,
        by the people's share of the variance: Cochran and Cox (Experimental Designs, 1957) weigh by the share itself,
        which is safe, Welch (Biometrika 34, 1947) to first order by its square, which suits many people and covers too
        little for few. The power here is 2 - 1 / freedom: 1 for two people, 1.5 for three, almost 2 for many. People
        never bring an end closer. `read_with` are the degrees of freedom of the interval over queries: their number
        less one, unless few of them make the spread.
        """
        of_queries = student_quantile(confidence, self.queries - 1 if read_with is None else read_with)
        of_people = student_quantile(confidence, self.freedom)
        variance = max((over_queries / of_queries) ** 2 - self.chance, 0.0) + self.variance
        if variance == 0.0:
            return over_queries
        weight = (self.variance / variance) ** (2.0 - 1.0 / self.freedom)
        quantile = of_queries + weight * (of_people - of_queries)
        return max(over_queries, quantile * math.sqrt(variance))


def person_effect_of(sheet: Floats, has: Flags) -> PersonEffect | None:
    """The effect of people on the mean of a (people, queries) table; None where no query has values of two people.

    `has` marks the cells with a value; every person and every query has one.
    """
    count, answered = has.sum(axis=0), has.sum(axis=1)
    if count.max() < 2:
        return None
    apart = np.where(has, sheet - np.where(has, sheet, 0.0).sum(axis=0) / count, 0.0)
    between, within = sum(math.fsum(row) ** 2 for row in apart), float((apart**2).sum())
    # The sums of people in `between` have the covariance shared² · var(person) + shared · var(chance).
    shared = np.diag(answered) - np.einsum("aq,bq->ab", has / count, has.astype(np.float64))
    trace, square = float(np.trace(shared)), float((shared**2).sum())
    fourth = float((np.einsum("ab,bc->ac", shared, shared) ** 2).sum())
    chance = _variance_of_chance(between, within, int(answered.sum()) - len(count), trace, square)
    weight = float((answered**2).sum()) / (float(answered.sum()) ** 2 * square)
    return PersonEffect(len(count), weight * between, weight * trace * chance, max(1, round(square**2 / fourth)))


def _variance_of_chance(between: float, within: float, freedom: int, trace: float, square: float) -> float:
    """From the squares of people's sums and the squares within queries; 0 where it cannot be separated from the person
    effect.
    """
    known = freedom * square - trace**2
    if known <= ROUNDING * trace**2:
        return 0.0
    return max((within * square - between * trace) / known, 0.0)


Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Interval = tuple[float, float]

RESAMPLES = 10_000
FURTHEST = 1 - 2 / RESAMPLES
"""The highest confidence that this number of draws can support; a higher one is used only on request."""
DEFAULT_CONFIDENCE = 0.95
CELLS_AT_ONCE = 500_000
MOST_UNDEFINED = 0.5

NORMAL = NormalDist()


def resampled_means(values: Floats, *, seed: int, resamples: int) -> Floats:
    """Means of each column of a (queries, columns) array over queries drawn with replacement.

    The result has the shape (resamples, columns). Values must be finite, with at least one row. No mean is beyond the
    values of its column, even by rounding.
    """
    n = len(values)
    centre = np.array([math.fsum(column) / n for column in values.T])
    whole, scale = on_grid(values - centre, n)
    means = np.empty((resamples, values.shape[1]))
    for first, times in _times_drawn(n, seed, resamples):
        means[first : first + len(times)] = (times @ whole) / (n * scale)
    return _settled(means + centre, values.min(axis=0), values.max(axis=0))


def _settled(means: Floats, low: Floats, high: Floats) -> Floats:
    """The means without rounding noise where it would change a result: at zero and at either end.

    A draw without any of the queries on which two runs differ has a difference of zero. One of -4e-16 would put
    zero outside an interval that ends there.
    """
    slack = NOISE * np.maximum(np.abs(low), np.abs(high))
    for end in (low, high, np.zeros_like(low)):
        np.copyto(means, np.broadcast_to(end, means.shape), where=np.abs(means - end) <= slack)
    return np.clip(means, low, high)


def _times_drawn(n: int, seed: int, resamples: int) -> Iterator[tuple[int, Floats]]:
    """How often each query is drawn: the number of the first draw, and some draws by queries, as doubles."""
    random = np.random.Generator(np.random.PCG64(seed))
    step = max(1, CELLS_AT_ONCE // n)
    for first in range(0, resamples, step):
        rows = min(step, resamples - first)
        drawn = random.integers(0, n, size=(rows, n), dtype=np.uint32)
        drawn += (np.arange(rows, dtype=np.uint32) * np.uint32(n))[:, None]
        times = np.bincount(drawn.ravel(), minlength=rows * n).reshape(rows, n)
        yield first, times.astype(np.float64)


def reading_share(values: Floats, confidence: float, strata: Ints | None = None) -> float:
    """The confidence for the percentiles of the resampled means of these values: widened where few make the spread.

    With `strata` only those with two queries or more count.
    """
    residuals, groups = values - _centres(values, strata), 1
    if strata is not None:
        _, member, size = np.unique(strata, return_inverse=True, return_counts=True)
        residuals, groups = residuals[size[member] > 1], int((size > 1).sum())
    return _share_of(residuals, confidence, groups)[0]


def _share_of(residuals: Floats, confidence: float, groups: int = 1) -> tuple[float, int]:
    """The widened confidence for values with these distances from their mean, and its degrees of freedom."""
    n, squares = len(residuals), residuals**2
    freedom = freedom_of_spread(n, float(squares.sum()), float((squares**2).sum()), groups)
    return min(widened(confidence, n, groups, freedom), max(confidence, FURTHEST)), freedom


def percentile_interval(means: Floats, share: float) -> Interval:
    """The middle share of one column of resampled figures. NaN is left out; at least one other value is needed."""
    tail = (1.0 - share) / 2.0
    low, high = np.quantile(means[~np.isnan(means)], [tail, 1.0 - tail])
    return float(low), float(high)


def interval_of_defined(drawn: Floats, share: float) -> Interval | None:
    """The middle share of one column of resampled figures; None where more than half of them are undefined."""
    defined = drawn[np.isfinite(drawn)]
    return percentile_interval(defined, share) if len(defined) >= max(1.0, len(drawn) / 2) else None


def interval_of(drawn: Drawn, share: float) -> Interval:
    """The middle share of the exact bootstrap distribution of one mean."""
    tail = (1.0 - share) / 2.0
    return drawn.low(tail), drawn.high(tail)


def bca_interval(values: Floats, drawn: Drawn, share: float, strata: Ints | None = None) -> Interval:
    """The same interval bias-corrected and accelerated (Efron, JASA 82, 1987) for the mean of one column.

    `values` are the queries' values, `drawn` all their draws. Draws that equal the mean count half as below it. Values
    that are all the same, or differ by less than can be squared, have the plain interval.
    """
    residuals = values - _centres(values, strata)
    spread = float((residuals**2).sum())
    below = drawn.below(math.fsum(values) / len(values))
    if spread**1.5 == 0.0 or not 0.0 < below < 1.0:
        return interval_of(drawn, share)
    bias = NORMAL.inv_cdf(below)
    acceleration = float((residuals**3).sum()) / (6.0 * spread**1.5)
    tail = (1.0 - share) / 2.0
    low, high = (_corrected(end, bias, acceleration) for end in (tail, 1.0 - tail))
    return drawn.low(low), drawn.high(1.0 - high)


def _centres(values: Floats, strata: Ints | None) -> Floats:
    """For each value the mean of its stratum; the mean of all without strata."""
    if strata is None:
        return np.full(len(values), values.mean())
    _, member, size = np.unique(strata, return_inverse=True, return_counts=True)
    return (np.bincount(member, weights=values) / size)[member]


def _corrected(end: float, bias: float, acceleration: float) -> float:
    """The share of draws below an end of a BCa interval, from that of a percentile interval."""
    if not 0.0 < end < 1.0:
        return end
    z = bias + NORMAL.inv_cdf(end)
    return NORMAL.cdf(bias + z / (1.0 - acceleration * z))


def people_intervals(sheets: Floats, *, seed: int = DEFAULT_SEED, resamples: int = RESAMPLES) -> list[Interval | None]:
    """Intervals, of the default confidence, of means over queries and the people who judged, one for each column.

    `sheets` has the shape (people, queries, columns): the scores of each query under one person's grades, NaN where
    that person judged nothing of the query. The mean is over all (person, query) pairs with a value. Queries are
    handled as in the interval without people, and resampled where some were judged by fewer people; people, who are
    few, are not resampled: their effect is computed and added to either end (`PersonEffect.reach`). A lenient person
    moves all queries together, as in reality. People who always agree leave the interval of the queries unchanged.

    The queries' scores here are means over people. Those under grades that were settled are another figure, and may
    vary more from query to query: `including` brings the two together.

    A column is None with fewer than two people or two queries with a value, and when no query has values of two people.
    """
    tables = [_table_of(sheets[:, :, column]) for column in range(sheets.shape[2])]
    return [None if table is None else _of_people(table, seed, resamples) for table in tables]


def including(interval: Interval, alone: Interval | None) -> Interval:
    """The interval over queries and people, with all that the one over queries alone does not exclude.

    The first is around the mean of what people said, the second around the score under the released grades, which need
    not be that mean. Where they differ nothing tells which of the two other people would bring it closer to.
    """
    return interval if alone is None else (min(interval[0], alone[0]), max(interval[1], alone[1]))


def _of_people(table: _Table, seed: int, resamples: int) -> Interval:
    share, freedom = _share_of(table.sums, DEFAULT_CONFIDENCE)
    if (table.counts == table.counts[0]).all():
        low, high = interval_of(every_draw(table.sums / table.counts[0] + table.centre), share)
        low, high = low - table.centre, high - table.centre
    else:  # a ratio of two sums, both of which another draw changes
        drawn = resampled_means(np.column_stack([table.sums, table.counts]), seed=seed, resamples=resamples)
        low, high = percentile_interval(drawn[:, 0] / drawn[:, 1], share)
    below, above = (table.effect.reach(end, DEFAULT_CONFIDENCE, freedom) for end in (-low, high))
    return table.centre - below, table.centre + above


class _Table(NamedTuple):
    """A mean of scores by person and query; `sums` (from the mean) and `counts` are those of its queries."""

    centre: float
    sums: Floats
    counts: Ints
    effect: PersonEffect


def _table_of(sheet: Floats) -> _Table | None:
    has = ~np.isnan(sheet)
    people, queries = has.any(axis=1), has.any(axis=0)
    sheet, has = sheet[people][:, queries], has[people][:, queries]
    effect = person_effect_of(sheet, has) if min(sheet.shape) > 1 else None
    if effect is None:
        return None
    counts = has.sum(axis=0)
    centre = math.fsum(sheet[has]) / int(counts.sum())
    return _Table(centre, np.where(has, sheet - centre, 0.0).sum(axis=0), counts, effect)
