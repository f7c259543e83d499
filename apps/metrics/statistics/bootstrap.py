"""Bootstrap intervals over queries, and intervals over queries and the people who judged them.

Figures made of several means, an effect size or a rank correlation, are resampled, and one set of draws is used for all
columns, so that they stay paired. Every sum is exact (`on_grid`): the same values and seed give the same bytes on any
number of threads. Intervals of few queries use percentiles further out (`apps.metrics.statistics.proportions.widened`),
since plain ones cover less often than they claim. Sources: Efron and Tibshirani, An Introduction to the Bootstrap,
1993; Davison and Hinkley, Bootstrap Methods and their Application, 1997 (strata). Means and differences have
closed forms: `apps.metrics.statistics.intervals`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from apps.metrics.statistics.intervals import Floats, Interval, mean_interval
from apps.metrics.statistics.proportions import student_quantile

EXACT_BITS = 52
MOST_EXPONENT = 1000


# A matrix product on several threads adds in another order than on one, and floating point then gives another last
# digit. Whole numbers below 2^53 are added without rounding, so values are put on a grid first: they become whole
# multiples of a power of two, much finer than any figure shown.


class WholeValues(NamedTuple):
    """Values as whole numbers, stored as doubles: `whole / scale` is the values again, within half a `1 / scale`.

    A column of a matrix has a scale of its own.
    """

    whole: Floats
    scale: Floats


def on_grid(values: Floats, terms: int) -> WholeValues:
    """The values on the finest grid on which any sum of up to `terms` of a column, repeats counted, is exact.

    The step is 2^-51 of the column's largest absolute value, times `terms` (rounded up to a power of two): 1e-13 of it
    for a thousand terms. Columns of nothing but zeros, or of values too small for a grid, become zeros. Raises
    ValueError for values that are not finite, and for more terms than the grid has room for.
    """
    if not np.isfinite(values).all():
        raise ValueError("Only finite values can be put on a grid.")
    room = EXACT_BITS - max(terms, 1).bit_length()
    if room < 1:
        raise ValueError(f"{terms} terms are too many to be added exactly.")
    largest = np.abs(values).max(axis=0, initial=0.0)
    exponent = np.maximum(room - np.frexp(largest)[1], -MOST_EXPONENT)
    scale = np.where((largest > 0) & (exponent <= MOST_EXPONENT), np.ldexp(1.0, np.minimum(exponent, MOST_EXPONENT)), 0)
    return WholeValues(np.rint(values * scale), np.where(scale > 0, scale, 1.0))


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

    def reach(self, over_queries: float, confidence: float) -> float:
        """The distance of an end of the interval over queries and people from the mean, from that over queries alone.

        Variances add, and chance counts once. The quantile is between Student's for queries and Student's for people,
        by the people's share of the variance: Cochran and Cox (Experimental Designs, 1957) weigh by the share itself,
        which is safe, Welch (Biometrika 34, 1947) to first order by its square, which suits many people and covers too
        little for few. The power here is 2 - 1 / freedom: 1 for two people, 1.5 for three, almost 2 for many. People
        never bring an end closer.
        """
        of_queries = student_quantile(confidence, self.queries - 1)
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


RESAMPLES = 10_000
DEFAULT_CONFIDENCE = 0.95
CELLS_AT_ONCE = 500_000
MOST_UNDEFINED = 0.5
NOISE = 1e-12  # of the largest value: far more than sums lose, far less than a measure can differ by


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


def percentile_interval(means: Floats, share: float) -> Interval:
    """The middle share of one column of resampled figures. NaN is left out; at least one other value is needed."""
    tail = (1.0 - share) / 2.0
    low, high = np.quantile(means[~np.isnan(means)], [tail, 1.0 - tail])
    return float(low), float(high)


def interval_of_defined(drawn: Floats, share: float) -> Interval | None:
    """The middle share of one column of resampled figures; None where more than half of them are undefined."""
    defined = drawn[np.isfinite(drawn)]
    return percentile_interval(defined, share) if len(defined) >= max(1.0, len(drawn) / 2) else None


def people_intervals(sheets: Floats) -> list[Interval | None]:
    """Intervals, of the default confidence, of means over queries and the people who judged, one for each column.

    `sheets` has the shape (people, queries, columns): the scores of each query under one person's grades, NaN where
    that person judged nothing of the query. The mean is over all (person, query) pairs with a value. Queries are
    handled as in the interval without people; the effect of people is computed and added to either end
    (`PersonEffect.reach`). A lenient person moves all queries together, as in reality. People who always agree leave
    the interval of the queries unchanged.

    The queries' scores here are means over people. Those under grades that were settled are another figure, and may
    vary more from query to query: `including` brings the two together.

    A column is None with fewer than two people or two queries with a value, and when no query has values of two people.
    """
    return [_over_people(sheets[:, :, column]) for column in range(sheets.shape[2])]


def including(interval: Interval, alone: Interval | None) -> Interval:
    """The interval over queries and people, with all that the one over queries alone does not exclude.

    The first is around the mean of what people said, the second around the score under the released grades, which need
    not be that mean. Where they differ nothing tells which of the two other people would bring it closer to.
    """
    return interval if alone is None else (min(interval[0], alone[0]), max(interval[1], alone[1]))


def _over_people(sheet: Floats) -> Interval | None:
    has = ~np.isnan(sheet)
    people, queries = has.any(axis=1), has.any(axis=0)
    sheet, has = sheet[people][:, queries], has[people][:, queries]
    effect = person_effect_of(sheet, has) if min(sheet.shape) > 1 else None
    if effect is None:
        return None
    counts = has.sum(axis=0)
    centre = math.fsum(sheet[has]) / int(counts.sum())
    # A query that more people judged has more weight in the mean, which is a ratio of two sums: linearised.
    by_query = centre + np.where(has, sheet - centre, 0.0).sum(axis=0) / counts.mean()
    alone = mean_interval(by_query, DEFAULT_CONFIDENCE)
    assert alone is not None  # of two queries or more
    below, above = (effect.reach(end, DEFAULT_CONFIDENCE) for end in (centre - alone[0], alone[1] - centre))
    return centre - below, centre + above
