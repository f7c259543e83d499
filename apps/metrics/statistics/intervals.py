"""Intervals of means of scores and of paired differences: closed forms, without resampling and without a seed.

Both stay honest where queries say little. A plain interval of twelve scores of 1, or of two runs that never differed,
has no width at all, though the next query may well be another. `docs/reference/uncertainty.md` has how often each
covers the truth, and what was tried beside it.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from apps.metrics.statistics.proportions import student_quantile, wilson_at

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Interval = tuple[float, float]

SOFTENING = 0.01
"""Added to both sums of squares whose ratio scales Wilson's interval: scores that are all the same count as no more
certain than a yes-or-no measure.
"""
ROUNDING = 1e-9
WHOLE_SCALE = 1.0
"""The pseudo-query of two runs that never differ: a difference from one end of the scale to the other."""


def by_original(values: Floats, originals: Ints | None) -> Floats:
    """One value for each original question: that of its variants together, with the mean of all values unchanged.

    `originals` has a number for each value, the same for a question and the queries that word it in other ways: they
    are one draw from the questions that there are. The values are linearised (Cochran, Sampling Techniques, 1977,
    chapter 11), so one of many variants may be beyond the scale. None: each value is its own.
    """
    if originals is None or not len(values):
        return values
    _, member = np.unique(originals, return_inverse=True)
    mean = math.fsum(values) / len(values)
    sums = np.bincount(member, weights=values - mean)
    return np.asarray(mean + sums * (len(sums) / len(values)), dtype=np.float64)


def mean_interval(
    values: Floats, confidence: float, strata: Ints | None = None, originals: Ints | None = None
) -> Interval | None:
    """Wilson's interval for the mean of scores between 0 and 1, scaled by how far they scatter.

    Scores between 0 and 1 scatter at most as zeros and ones with the same mean do; Wilson's interval (see
    `proportions.wilson`) of those is narrowed by the ratio of the two sums of squares, and uses Student's quantile. It
    is never without width and always includes the mean. Where values are beyond 0 or 1 the scale ends at the furthest.

    `strata`, a number for each value, are parts that were sampled apart: only the scatter within them counts. With
    `originals` (see `by_original`), which go without strata, n is their number. None with fewer than two values or
    originals, or where every stratum has one.
    """
    if not len(values):
        return None
    low, high = min(0.0, float(values.min())), max(1.0, float(values.max()))
    scaled = by_original((values - low) / (high - low), originals)
    n = len(scaled)
    freedom = n - _parts(strata)
    if freedom < 1:
        return None
    share = _scatter_share(scaled, strata, (n - 1) / freedom)
    ends = wilson_at(math.fsum(scaled) / n, share * student_quantile(confidence, freedom) ** 2 / n)
    return low + ends[0] * (high - low), low + ends[1] * (high - low)


def spread_at(values: Floats, bound: float, originals: Ints | None = None) -> float:
    """The standard deviation of scores between 0 and 1 if their mean were at a bound, as `mean_interval` has it.

    To plan for how many queries keep a bound out of the interval. 0 at a bound of 0 or 1, and beyond.
    """
    return math.sqrt(_scatter_share(by_original(values, originals), None, 1.0) * max(0.0, bound * (1.0 - bound)))


def _scatter_share(values: Floats, strata: Ints | None, factor: float) -> float:
    """The sum of squared distances from the mean as a share of the largest that this mean allows: 1 for zeros and ones.

    `factor` is for what estimating the means of strata takes away.
    """
    n = len(values)
    mean = math.fsum(values) / n
    return (_scatter(values, strata) * factor + SOFTENING) / (n * mean * (1.0 - mean) + SOFTENING)


def difference_interval(
    change: Floats, confidence: float, strata: Ints | None = None, originals: Ints | None = None
) -> Interval | None:
    """Student's interval for the mean of paired differences with one pseudo-query, half up and half down.

    The pseudo-query differs by the largest difference seen, or by the whole scale where none is: it stands for what
    these queries could not show. Where none of n queries differs the ends are about 2 / n from zero, in the spirit of
    the rule of three (Hanley and Lippman-Hand, JAMA 249, 1983). It always includes the mean, and ends with the scale.

    `strata`, `originals` and None are as in `mean_interval`.
    """
    pseudo = float(np.abs(change).max(initial=0.0)) or WHOLE_SCALE
    change = by_original(change, originals)
    n = len(change)
    freedom = n - _parts(strata)
    if freedom < 1:
        return None
    total = math.fsum(change)
    squares = _scatter(change, strata) * (n - 1) / freedom + total**2 / (n * (n + 1)) + pseudo**2
    half = student_quantile(confidence, freedom) * math.sqrt(squares / n / (n + 1))
    furthest = max(WHOLE_SCALE, pseudo)
    return max(-furthest, total / (n + 1) - half), min(furthest, total / (n + 1) + half)


def _parts(strata: Ints | None) -> int:
    return 1 if strata is None else len(np.unique(strata))


def _scatter(values: Floats, strata: Ints | None) -> float:
    """The sum of squared distances from the mean, of each stratum where there are any. An exact sum, rounded once."""
    if strata is None:
        return math.fsum((values - math.fsum(values) / len(values)) ** 2)
    _, member, size = np.unique(strata, return_inverse=True, return_counts=True)
    return math.fsum((values - (np.bincount(member, weights=values) / size)[member]) ** 2)


def effective_number(weights: Floats) -> float:
    """How many equal weights say as much: (Σ w)² / Σ w² (Kish, Survey Sampling, 1965). 0.0 without weights."""
    squares = math.fsum(weights**2)
    return math.fsum(weights) ** 2 / squares if squares else 0.0


class Draw(NamedTuple):
    """How queries were drawn: each with its chance, above 0 and at most 1, within its stratum, by number."""

    chances: Floats
    strata: Ints


def weighted_interval(values: Floats, weights: Floats, confidence: float, draw: Draw | None = None) -> Interval | None:
    """The interval of a weighted mean, Σ w x / Σ w, of scores between 0 and 1; equal weights give `mean_interval`.

    The queries, each with its weight, are the sample. The variance is that of a ratio of two sums, linearised:
    Σ w² (x − m)² / (Σ w)² (Särndal, Swensson and Wretman, Model Assisted Survey Sampling, 1992, section 5.7), and takes
    the place of that of a plain mean, the effective number of weights the place of n. None where that is below 2.

    With a `draw` the population is the one that was drawn from: the scatter within strata counts, and of each query as
    much of it as its chance leaves open (Hájek's variance; Deville, Variance estimation in surveys with auxiliary
    information, 1999): Σ n/(n−1) Σ (1 − π)(e − ē)² over the strata, e = w (x − m). None where no stratum has two.
    """
    n = effective_number(weights)
    if n < 2:
        return None
    low, high = min(0.0, float(values.min())), max(1.0, float(values.max()))
    scaled, parts = (values - low) / (high - low), weights / math.fsum(weights)
    mean = math.fsum(parts * scaled)
    freedom = math.floor(n + ROUNDING) - 1
    variance = math.fsum((parts * (scaled - mean)) ** 2)
    if draw is not None:
        if (freedom := len(values) - _parts(draw.strata)) < 1:
            return None
        variance = _drawn_variance(parts * (scaled - mean), draw)
    share = (n * variance + SOFTENING / n) / (n * mean * (1.0 - mean) + SOFTENING)
    quantile = student_quantile(confidence, freedom)
    ends = wilson_at(min(1.0, mean), share * quantile**2)
    return low + ends[0] * (high - low), low + ends[1] * (high - low)


def _drawn_variance(residuals: Floats, draw: Draw) -> float:
    """The variance of a sum of residuals, of a sample drawn within strata. One alone in its stratum adds nothing."""
    total = 0.0
    for stratum in np.unique(draw.strata):
        inside = draw.strata == stratum
        own, open_share = residuals[inside], 1.0 - draw.chances[inside]
        if (n := len(own)) < 2 or not (weight := math.fsum(open_share)):
            continue
        centre = math.fsum(open_share * own) / weight
        total += n / (n - 1) * math.fsum(open_share * (own - centre) ** 2)
    return total
