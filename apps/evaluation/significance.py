"""How sure a mean or a difference is: bootstrap intervals, randomisation tests, Holm's correction.

Everything is seeded and gives the same numbers for the same seed. One set of resampled queries (or of flipped
signs) serves all columns, so that measures and runs stay paired.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

RESAMPLES = 1_000
COMPARED_RESAMPLES = 10_000
DEFAULT_SEED = 20
DEFAULT_CONFIDENCE = 0.95
CELLS_AT_ONCE = 500_000


class Summary(NamedTuple):
    """A mean over n queries. `interval` is None when fewer than two have a value, `mean` when none has."""

    mean: float | None
    interval: tuple[float, float] | None
    n: int


def summaries(
    values: Floats,
    *,
    confidence: float = DEFAULT_CONFIDENCE,
    seed: int = DEFAULT_SEED,
    resamples: int = RESAMPLES,
    with_interval: bool = True,
) -> list[Summary]:
    """Mean and percentile bootstrap interval of each column of a (queries, columns) array.

    Queries are resampled with replacement (Efron and Tibshirani, An Introduction to the Bootstrap, 1993,
    chapter 13). NaN is "no value": such queries are left out of that column. Means are exact sums, rounded
    once.
    """
    found: list[Summary | None] = [None] * values.shape[1]
    whole = np.flatnonzero(~np.isnan(values).any(axis=0)) if len(values) else np.empty(0, dtype=np.int64)
    intervals = _intervals(values[:, whole], confidence, seed, resamples) if with_interval else {}
    for place, column in enumerate(whole.tolist()):
        found[column] = Summary(mean_of(values[:, column]), intervals.get(place), len(values))
    for column, summary in enumerate(found):
        if summary is None:
            defined = values[~np.isnan(values[:, column]), column]
            alone = _intervals(defined[:, None], confidence, seed, resamples) if with_interval else {}
            found[column] = Summary(mean_of(defined), alone.get(0), len(defined))
    return [summary for summary in found if summary is not None]


def mean_of(values: Floats | Sequence[float]) -> float | None:
    """The mean by an exact sum, the same on every machine; None for no values."""
    return math.fsum(values) / len(values) if len(values) else None


def _intervals(values: Floats, confidence: float, seed: int, resamples: int) -> dict[int, tuple[float, float]]:
    n, columns = values.shape
    if n < 2 or columns == 0:
        return {}
    means = _resampled_means(values, seed, resamples)
    tail = (1.0 - confidence) / 2.0
    low, high = np.quantile(means, [tail, 1.0 - tail], axis=0)
    return {column: (float(low[column]), float(high[column])) for column in range(columns)}


def _resampled_means(values: Floats, seed: int, resamples: int) -> Floats:
    """Means of each column over resampled queries: shape (resamples, columns)."""
    n = len(values)
    random = np.random.Generator(np.random.PCG64(seed))
    means = np.empty((resamples, values.shape[1]))
    step = max(1, CELLS_AT_ONCE // n)
    for first in range(0, resamples, step):
        rows = min(step, resamples - first)
        drawn = random.integers(0, n, size=(rows, n), dtype=np.uint32)
        drawn += (np.arange(rows, dtype=np.uint32) * np.uint32(n))[:, None]
        times = np.bincount(drawn.ravel(), minlength=rows * n).reshape(rows, n)
        means[first : first + rows] = times.astype(np.float64) @ values / n
    return means


class Difference(NamedTuple):
    """Candidate minus baseline over the queries of both. `p` is two-sided; `holm` is p corrected."""

    mean: float
    interval: tuple[float, float] | None
    p: float
    holm: float
    better: int
    equal: int
    worse: int
    n: int

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
) -> list[Difference]:
    """Paired differences of each column of two (queries, columns) arrays, p corrected over all columns.

    Raises ValueError when the arrays differ in shape, have no rows, or hold NaN: a pair needs both values.
    """
    if baseline.shape != candidate.shape or len(baseline) == 0:
        raise ValueError("A paired difference needs the same queries, at least one, on both sides.")
    change = candidate - baseline
    if np.isnan(change).any():
        raise ValueError("A paired difference needs a value for every query on both sides.")
    parts = summaries(change, confidence=confidence, seed=seed, resamples=resamples)
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
        )
        for column in range(change.shape[1])
    ]


def sign_flip_p(change: Floats, *, seed: int = DEFAULT_SEED, resamples: int = COMPARED_RESAMPLES) -> list[float]:
    """Two-sided p of each column's mean under random signs: (1 + hits) / (resamples + 1), never zero.

    Fisher's randomisation test; Smucker, Allan, Carterette, CIKM 2007. A flipped mean counts as a hit when it
    is as far from zero as the mean seen, within rounding. Columns without any difference have p 1.
    """
    n, columns = change.shape
    total = change.sum(axis=0)
    bar = np.abs(total) - 1e-12 * np.abs(change).sum(axis=0)
    random = np.random.Generator(np.random.PCG64(seed))
    hits = np.zeros(columns, dtype=np.int64)
    step = max(1, CELLS_AT_ONCE // max(n, 1))
    for first in range(0, resamples, step):
        rows = min(step, resamples - first)
        packed = np.frombuffer(random.bytes(rows * ((n + 7) // 8)), dtype=np.uint8).reshape(rows, -1)
        kept = np.unpackbits(packed, axis=1, count=n).astype(np.float64)
        hits += (np.abs(2.0 * (kept @ change) - total) >= bar).sum(axis=0)
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
