"""The share of the annotators in the uncertainty of a mean, computed without resampling.

A score under one person's grades is modelled as the sum of three parts: the query's level, the same for everybody; the
person's effect, the same in every query; and chance. Their variances are estimated by the method of moments (Searle,
Casella and McCulloch, Variance Components, 1992), so people may have judged different queries and different numbers of
them.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from apps.metrics.statistics.proportions import student_quantile

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

ROUNDING = 1e-9


class PersonEffect(NamedTuple):
    """The uncertainty of a mean over `queries` queries because other people could have judged.

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
