"""Uncertainty of means and differences: intervals, paired tests, Holm's correction.

Intervals are closed forms without a seed. The randomisation test is seeded and gives the same numbers for the same
seed; one set of flipped signs is used for all columns, so that measures and runs stay paired.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from enum import StrEnum
from fractions import Fraction
from typing import NamedTuple, Protocol

import numpy as np

from apps.metrics.estimate import SCALED_WILSON, WEIGHTED_WILSON, WILSON, Estimate, excludes_zero
from apps.metrics.statistics.bootstrap import (
    CELLS_AT_ONCE,
    DEFAULT_CONFIDENCE,
    DEFAULT_SEED,
    RESAMPLES,
    on_grid,
    percentile_interval,
    resampled_means,
)
from apps.metrics.statistics.intervals import (
    Draw,
    Floats,
    Interval,
    Ints,
    difference_interval,
    mean_interval,
    weighted_interval,
)
from apps.metrics.statistics.proportions import widened, wilson

LEVEL = 0.05
EQUAL = 1e-9
"""Values of a query that differ by no more are equal: the one rule for better, equal and worse."""
NO_VALUE, NO_INTERVAL = "There is no value.", "One value is too few for an interval."
HANDFUL = 10
"""If fewer queries differ, and the others are equal, the interval covers the true value less often than it claims."""

FEWEST_FOR_A_VERDICT = 6
"""Of fewer queries no paired test can fall below p = 0.05, and an interval covers far less often than it claims."""


def few_words(n: int) -> str:
    """The warning beside an interval over n queries where they are too few; else empty."""
    return f"n {n}: too few for an interval" if 1 < n < FEWEST_FOR_A_VERDICT else ""


class Summary(NamedTuple):
    """A mean over n queries with its interval, computed by `method`.

    The interval is None where there are too few queries for one, or none was asked for; `mean` when none has a value.
    """

    mean: float | None
    interval: Interval | None
    n: int
    method: str = SCALED_WILSON

    @property
    def estimate(self) -> Estimate:
        reason = "" if self.n > 1 or self.interval else NO_INTERVAL if self.n else NO_VALUE
        return Estimate.of(self.mean, self.interval, self.n, self.method, reason)


class Scored(Protocol):
    """What the values of a column are of: a measure."""

    @property
    def is_yes_or_no(self) -> bool: ...


def summaries(
    measures: Sequence[Scored],
    values: Floats,
    *,
    confidence: float = DEFAULT_CONFIDENCE,
    with_interval: bool = True,
    strata: Ints | None = None,
    originals: Ints | None = None,
) -> list[Summary]:
    """Mean and interval of each column of a (queries, measures) array.

    The interval of a yes-or-no measure is Wilson's, of one query or more; that of any other, and of every one with
    `strata` or `originals`, a number for each query, `intervals.mean_interval`. NaN is "no value": such queries are
    left out of that column. Means are exact sums, rounded once.
    """
    by_column = []
    for measure, column in zip(measures, values.T, strict=True):
        has = ~np.isnan(column)
        groups, known = [None if one is None else one[has] for one in (strata, originals)], column[has]
        is_proportion = measure.is_yes_or_no and strata is None and originals is None
        interval = None
        if with_interval and is_proportion:
            interval = wilson(int(known.sum()), len(known), confidence)
        elif with_interval:
            interval = mean_interval(known, confidence, *groups)
        by_column.append(Summary(mean_of(known), interval, len(known), WILSON if is_proportion else SCALED_WILSON))
    return by_column


def weighted_summaries(
    values: Floats,
    weights: Floats,
    *,
    confidence: float = DEFAULT_CONFIDENCE,
    with_interval: bool = True,
    draw: Draw | None = None,
) -> list[Summary]:
    """The mean of each column of a (queries, measures) array weighted by query, with `intervals.weighted_interval`.

    Queries without a value (NaN) or with the weight 0 are left out; n counts the others. With a `draw` of the queries
    the weights are what each stands for divided by its chance: the estimator of Hájek (1971).
    """
    found = []
    for column in values.T:
        has = ~np.isnan(column) & (weights > 0)
        known, theirs = column[has], weights[has]
        mean = math.fsum(known * theirs) / math.fsum(theirs) if len(known) else None
        drawn = None if draw is None else Draw(draw.chances[has], draw.strata[has])
        interval = weighted_interval(known, theirs, confidence, drawn) if with_interval and len(known) else None
        found.append(Summary(mean, interval, len(known), WEIGHTED_WILSON))
    return found


def mean_of(values: Floats | Sequence[float]) -> float | None:
    """The mean by an exact sum, the same on every machine; None without values."""
    return math.fsum(values) / len(values) if len(values) else None


class WinTally(NamedTuple):
    """The number of queries on which a run is better than another, equal, and worse."""

    better: int
    equal: int
    worse: int

    @property
    def n(self) -> int:
        return sum(self)

    @property
    def moved(self) -> int:
        """The number of queries that differ."""
        return self.better + self.worse

    @property
    def rests_on(self) -> int | None:
        """How many queries make the difference where they are a handful among many that are equal; None otherwise."""
        return self.moved if self.moved < min(HANDFUL, self.n / 2) else None

    @property
    def sign_p(self) -> float | None:
        """The two-sided p of the exact sign test; None where no query differs."""
        return sign_test_p(self.better, self.worse) if self.moved else None


class Difference(NamedTuple):
    """Candidate minus baseline over the queries of both; the interval is None for one query.

    `p` is two-sided, `holm` is p corrected over the family.
    """

    mean: float
    interval: tuple[float, float] | None
    p: float
    holm: float
    better: int
    equal: int
    worse: int
    n: int

    @property
    def is_clear(self) -> bool:
        """Whether the interval excludes zero, over enough queries to say so."""
        return self.n >= FEWEST_FOR_A_VERDICT and excludes_zero(self.interval)

    @property
    def is_settled(self) -> bool:
        """Whether interval and test agree that there is a difference, before p is corrected for a family."""
        return self.is_clear and self.p < LEVEL

    @property
    def tally(self) -> WinTally:
        return WinTally(self.better, self.equal, self.worse)

    @property
    def rests_on(self) -> int | None:
        """As `WinTally.rests_on`."""
        return self.tally.rests_on


def sign_test_p(better: int, worse: int) -> float:
    """The probability that as few of the differing queries, or fewer, go one way, if both are equally likely; doubled.

    Exact: whole numbers, rounded once. Arbuthnott 1710; equal queries are left out.
    """
    n = better + worse
    ways, term = 0, 1
    for count in range(min(better, worse) + 1):
        ways += term
        term = term * (n - count) // (count + 1)
    return min(1.0, float(Fraction(2 * ways, 1 << n)))


def change_of(baseline: Floats, candidate: Floats) -> Floats:
    """Candidate minus baseline, query by query; 0 for values that are equal except for rounding."""
    change = candidate - baseline
    return np.where(np.abs(change) <= EQUAL, 0.0, change)


def tally_of(change: Floats) -> WinTally:
    """The number of differences of one column above, at and below zero."""
    above, below = int((change > EQUAL).sum()), int((change < -EQUAL).sum())
    return WinTally(above, len(change) - above - below, below)


def differences(
    baseline: Floats,
    candidate: Floats,
    *,
    confidence: float = DEFAULT_CONFIDENCE,
    seed: int = DEFAULT_SEED,
    resamples: int = RESAMPLES,
    strata: Ints | None = None,
    originals: Ints | None = None,
) -> list[Difference]:
    """Paired differences of each column of two (queries, columns) arrays, p corrected over all columns.

    With `strata`, a number for each query, only the scatter within them widens intervals; signs are flipped
    independently of strata. With `originals` the variants of a question are one draw: their signs flip together.
    Without `resamples` no sign is flipped, and p is 1: most of the time goes there.

    NaN on both sides is "no value": such queries are left out of that column. Raises ValueError when the arrays differ
    in shape, have no rows, or contain NaN on one side alone: a pair needs both values.
    """
    if baseline.shape != candidate.shape or len(baseline) == 0:
        raise ValueError("A paired difference needs the same queries, at least one, on both sides.")
    change = change_of(baseline, candidate)
    has = ~np.isnan(change)
    if (np.isnan(baseline) != np.isnan(candidate)).any() or not has.any(axis=0).all():
        raise ValueError("A paired difference needs a value for the same queries on both sides.")
    p_values = sign_flip_p(_sums_by(originals, np.nan_to_num(change)), seed=seed, resamples=resamples)
    corrected = holm(p_values)
    found = []
    for column in range(change.shape[1]):
        rows, known = has[:, column], change[has[:, column], column]
        within = [None if one is None else one[rows] for one in (strata, originals)]
        found.append(
            Difference(
                mean=mean_of(known) or 0.0,
                interval=difference_interval(known, confidence, *within),
                p=p_values[column],
                holm=corrected[column],
                **tally_of(known)._asdict(),
                n=len(known),
            )
        )
    return found


def _sums_by(originals: Ints | None, change: Floats) -> Floats:
    """The differences of each original question's variants together, by column."""
    if originals is None:
        return change
    _, member = np.unique(originals, return_inverse=True)
    return np.column_stack([np.bincount(member, weights=column) for column in change.T])


def sign_flip_p(change: Floats, *, seed: int = DEFAULT_SEED, resamples: int = RESAMPLES) -> list[float]:
    """Two-sided p of each column's mean under random signs: (1 + hits) / (resamples + 1), never zero.

    Fisher's randomisation test; Smucker, Allan, Carterette, CIKM 2007. A flipped mean is a hit when it is as far from
    zero as the mean seen, within rounding. Columns without any difference have p 1. One draw of signs is used for all
    columns. Values must be finite.
    """
    n, columns = change.shape
    whole = on_grid(change, n).whole
    total = whole.sum(axis=0)
    bar = np.abs(total) - n
    random = np.random.Generator(np.random.PCG64(seed))
    hits = np.zeros(columns, dtype=np.int64)
    step = max(1, CELLS_AT_ONCE // max(n, 1))
    for first in range(0, resamples, step):
        rows = min(step, resamples - first)
        packed = np.frombuffer(random.bytes(rows * ((n + 7) // 8)), dtype=np.uint8).reshape(rows, -1)
        flips = np.unpackbits(packed, axis=1, count=n).astype(np.float64)
        hits += (np.abs(2.0 * (flips @ whole) - total) >= bar).sum(axis=0)
    return [float(hit + 1) / (resamples + 1) for hit in hits]


def holm(p_values: Sequence[float]) -> list[float]:
    """p-values corrected for their number by Holm's step-down rule (Scand. J. Statistics 6, 1979)."""
    count = len(p_values)
    corrected = [0.0] * count
    reached = 0.0
    for place, index in enumerate(sorted(range(count), key=lambda i: p_values[i])):
        reached = max(reached, min(1.0, (count - place) * p_values[index]))
        corrected[index] = reached
    return corrected


def benjamini_hochberg(p_values: Sequence[float]) -> list[float]:
    """p-values corrected by the step-up rule of Benjamini and Hochberg (JRSS B 57, 1995): the false discovery rate."""
    count = len(p_values)
    corrected = [1.0] * count
    reached = 1.0
    for place, index in enumerate(sorted(range(count), key=lambda i: p_values[i], reverse=True)):
        reached = min(reached, count / (count - place) * p_values[index])
        corrected[index] = reached
    return corrected


class Correction(StrEnum):
    """How p is corrected where many differences are tested, and what that promises of those called different."""

    HOLM = "holm"
    FDR = "fdr"

    @property
    def words(self) -> str:
        return "Holm" if self is Correction.HOLM else "Benjamini–Hochberg"

    @property
    def other(self) -> Correction:
        return Correction.FDR if self is Correction.HOLM else Correction.HOLM

    @property
    def promise(self) -> str:
        if self is Correction.HOLM:
            return "Holm: in at most 5 of 100 such lists is any “better” or “worse” false."
        return "Benjamini–Hochberg: of the differences called better or worse, at most 5 in 100 on average are false."

    def of(self, p_values: Sequence[float]) -> list[float]:
        return holm(p_values) if self is Correction.HOLM else benjamini_hochberg(p_values)


EXACT_TO = 50
ROUNDING = 1e-12


class Statistic(NamedTuple):
    """The value of a test statistic and its two-sided p, over n differences."""

    value: float
    p: float
    n: int


class Paired(NamedTuple):
    """Further tests of one column of paired differences, for readers who know them.

    The verdict uses the interval and the randomisation test, which do not assume that differences are normal; of equal
    runs whose differences are very skewed the test calls more than 5 % different: see `benchmarks/coverage.py`, looks.

    `spread` is the standard deviation (n - 1), None for fewer than two queries. `effect` is the mean in spreads,
    Cohen's d of paired values, with its percentile interval. `t` and `effect` are None when all differences are equal,
    `wilcoxon` when none differs from 0.
    """

    n: int
    spread: float | None
    t: Statistic | None
    wilcoxon: Statistic | None
    effect: float | None
    effect_interval: Interval | None


def paired_tests(
    change: Floats,
    *,
    confidence: float = DEFAULT_CONFIDENCE,
    seed: int = DEFAULT_SEED,
    resamples: int = RESAMPLES,
) -> list[Paired]:
    """Each column of a (queries, columns) array of differences, candidate minus baseline.

    Raises ValueError when a difference is not finite.
    """
    if not np.isfinite(change).all():
        raise ValueError("A paired test needs a value for every query on both sides.")
    # Centred and scaled to 1: squares of nearly equal differences would cancel out, and those of tiny ones would be 0.
    centre = change.sum(axis=0) / max(1, len(change))
    reach = np.abs(change - centre).max(axis=0, initial=0.0)
    reach[reach == 0] = 1.0
    scaled = (change - centre) / reach
    both = np.hstack([scaled, scaled**2])
    drawn = resampled_means(both, seed=seed, resamples=resamples) if len(change) > 1 else both
    columns = change.shape[1]
    return [
        _paired(change[:, place], drawn[:, [place, columns + place]], float(centre[place] / reach[place]), confidence)
        for place in range(columns)
    ]


def _paired(change: Floats, drawn: Floats, centre: float, confidence: float) -> Paired:
    """`drawn` are resampled means of the scaled differences and of their squares; `centre` is their scaled mean."""
    n = len(change)
    spread = float(change.std(ddof=1)) if n > 1 else None
    wilcoxon = signed_ranks(change)
    if spread is None or spread <= ROUNDING * float(np.abs(change).max()):
        return Paired(n, 0.0 if n > 1 else None, None, wilcoxon, None, None)
    effect = math.fsum(change) / n / spread
    interval = _effect_interval(drawn, centre, n, confidence)
    return Paired(n, spread, paired_t(change), wilcoxon, effect, interval)


def paired_t(change: Floats) -> Statistic:
    """Student's t of the mean difference. It needs two differences or more, not all the same."""
    from scipy.special import stdtr  # loaded on use: `karat score` starts without SciPy

    n = len(change)
    statistic = math.fsum(change) / n / (float(change.std(ddof=1)) / math.sqrt(n))
    return Statistic(statistic, 2 * float(stdtr(n - 1, -abs(statistic))), n)


def signed_ranks(change: Floats) -> Statistic | None:
    """Wilcoxon's signed-rank test (Biometrics Bulletin 1, 1945); None when no query differs.

    What is equal (`significance.EQUAL`) is left out, equal differences share the mean of their ranks. The statistic is
    the smaller sum of ranks. p is exact for up to 50 differences, ties included, and from the normal distribution,
    corrected for ties but not for continuity, for more.
    """
    moved = change[np.abs(change) > EQUAL]
    n = len(moved)
    if n == 0:
        return None
    _, group, sizes = np.unique(np.round(np.abs(moved), 12), return_inverse=True, return_counts=True)
    twice = (2 * np.cumsum(sizes) - sizes + 1)[group]
    above, below = int(twice[moved > 0].sum()), int(twice[moved < 0].sum())
    smaller = min(above, below)
    p = _exact_p(twice, smaller) if n <= EXACT_TO else _normal_p(n, sizes, smaller / 2)
    return Statistic(smaller / 2, p, n)


def _exact_p(twice: Ints, smaller: int) -> float:
    """Twice the share of all signs whose sum of ranks, here doubled to be whole, is as small as this."""
    ways = np.zeros(int(twice.sum()) + 1)
    ways[0] = 1.0
    for rank in twice.tolist():
        ways[rank:] = ways[rank:] + ways[:-rank]
    return min(1.0, 2 * float(ways[: smaller + 1].sum()) / 2.0 ** len(twice))


def _normal_p(n: int, sizes: Ints, smaller: float) -> float:
    variance = n * (n + 1) * (2 * n + 1) / 24 - float((sizes**3 - sizes).sum()) / 48
    z = (smaller - n * (n + 1) / 4) / math.sqrt(variance)
    return math.erfc(abs(z) / math.sqrt(2))


def _effect_interval(drawn: Floats, centre: float, n: int, confidence: float) -> Interval:
    """Percentile interval of mean / spread over resampled queries; draws without spread are left out."""
    variance = (drawn[:, 1] - drawn[:, 0] ** 2) * n / (n - 1)
    scatters = variance > ROUNDING
    effects = (centre + drawn[scatters, 0]) / np.sqrt(variance[scatters])
    return percentile_interval(effects, widened(confidence, n))
