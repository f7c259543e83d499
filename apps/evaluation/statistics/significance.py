"""How sure a mean or a difference is: bootstrap intervals, randomisation tests, Holm's correction.

Everything is seeded and gives the same numbers for the same seed. One set of resampled queries (or of flipped
signs) serves all columns, so that measures and runs stay paired.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from apps.common.exact import on_grid
from apps.evaluation.statistics.resampling import (
    CELLS_AT_ONCE,
    DEFAULT_CONFIDENCE,
    DEFAULT_SEED,
    RESAMPLES,
    Floats,
    Interval,
    Ints,
    bca_interval,
    percentile_interval,
    reading_share,
    resampled_means,
)

COMPARED_RESAMPLES = 10_000


class Summary(NamedTuple):
    """A mean over n queries with its percentile interval and the same corrected (BCa).

    The intervals are None when fewer than two queries have a value, `mean` when none has.
    """

    mean: float | None
    interval: Interval | None
    n: int
    bca: Interval | None = None


def summaries(
    values: Floats,
    *,
    confidence: float = DEFAULT_CONFIDENCE,
    seed: int = DEFAULT_SEED,
    resamples: int = RESAMPLES,
    with_interval: bool = True,
    strata: Ints | None = None,
) -> list[Summary]:
    """Mean and bootstrap intervals of each column of a (queries, columns) array.

    Queries are resampled with replacement, within their stratum where `strata` names one for each. NaN is "no value":
    such queries are left out of that column. Means are exact sums, rounded once.
    """
    has = ~np.isnan(values)
    whole = np.flatnonzero(has.all(axis=0)) if len(values) else np.empty(0, dtype=np.int64)
    apart = np.setdiff1d(np.arange(values.shape[1]), whole)
    found: dict[int, Summary] = {}
    for columns in [whole, *apart[:, None]]:
        rows = has[:, columns].all(axis=1)
        chosen, groups = values[np.ix_(rows, columns)], None if strata is None else strata[rows]
        means = None
        if with_interval and _spreads(chosen, groups):
            means = resampled_means(chosen, seed=seed, resamples=resamples, strata=groups)
        for place, column in enumerate(columns.tolist()):
            draws = None if means is None else means[:, place]
            found[column] = _summary(chosen[:, place], draws, confidence, groups)
    return [found[column] for column in range(values.shape[1])]


def _spreads(values: Floats, strata: Ints | None) -> bool:
    """Whether another draw can differ at all: two values, or with strata two values in one of them."""
    if values.shape[1] == 0 or strata is None or not len(values):
        return len(values) > 1 and values.shape[1] > 0
    return bool(np.unique(strata, return_counts=True)[1].max() > 1)


def _summary(values: Floats, means: Floats | None, confidence: float, strata: Ints | None) -> Summary:
    if means is None:
        return Summary(mean_of(values), None, len(values))
    share = reading_share(values, confidence, strata)
    corrected = bca_interval(values, means, share, strata)
    return Summary(mean_of(values), percentile_interval(means, share), len(values), corrected)


def mean_of(values: Floats | Sequence[float]) -> float | None:
    """The mean by an exact sum, the same on every machine; None for no values."""
    return math.fsum(values) / len(values) if len(values) else None


class Difference(NamedTuple):
    """Candidate minus baseline over the queries of both, with both intervals as in `Summary`.

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
    bca: Interval | None = None

    @property
    def is_settled(self) -> bool:
        """Whether the interval excludes zero."""
        return self.interval is not None and (self.interval[0] > 0 or self.interval[1] < 0)


def differences(
    baseline: Floats,
    candidate: Floats,
    *,
    confidence: float = DEFAULT_CONFIDENCE,
    seed: int = DEFAULT_SEED,
    resamples: int = COMPARED_RESAMPLES,
    strata: Ints | None = None,
) -> list[Difference]:
    """Paired differences of each column of two (queries, columns) arrays, p corrected over all columns.

    With `strata`, a number for each query, queries are resampled within theirs; signs are flipped freely all the same.

    Raises ValueError when the arrays differ in shape, have no rows, or hold NaN: a pair needs both values.
    """
    if baseline.shape != candidate.shape or len(baseline) == 0:
        raise ValueError("A paired difference needs the same queries, at least one, on both sides.")
    change = candidate - baseline
    if np.isnan(change).any():
        raise ValueError("A paired difference needs a value for every query on both sides.")
    parts = summaries(change, confidence=confidence, seed=seed, resamples=resamples, strata=strata)
    p_values = sign_flip_p(change, seed=seed, resamples=resamples)
    corrected = holm(p_values)
    return [
        Difference(
            mean=parts[column].mean or 0.0,
            interval=parts[column].interval,
            p=p_values[column],
            holm=corrected[column],
            better=int((change[:, column] > 0).sum()),
            equal=int((change[:, column] == 0).sum()),
            worse=int((change[:, column] < 0).sum()),
            n=len(change),
            bca=parts[column].bca,
        )
        for column in range(change.shape[1])
    ]


def sign_flip_p(change: Floats, *, seed: int = DEFAULT_SEED, resamples: int = COMPARED_RESAMPLES) -> list[float]:
    """Two-sided p of each column's mean under random signs: (1 + hits) / (resamples + 1), never zero.

    Fisher's randomisation test; Smucker, Allan, Carterette, CIKM 2007. A flipped mean counts as a hit when it
    is as far from zero as the mean seen, within rounding. Columns without any difference have p 1. One draw of signs
    serves all columns. Values have to be finite.
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
        kept = np.unpackbits(packed, axis=1, count=n).astype(np.float64)
        hits += (np.abs(2.0 * (kept @ whole) - total) >= bar).sum(axis=0)
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
