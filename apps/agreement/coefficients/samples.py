"""Distinct patterns of ratings and how often each occurs, and the same drawn again for the bootstrap.

Every coefficient is a function of those counts, so resampling items is one multinomial draw, whatever their number.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from apps.agreement.coefficients.counting import MISSING, Counts, distinct_rows

Floats = NDArray[np.float64]

CELLS_AT_ONCE = 4_000_000


@dataclass(frozen=True)
class Sample:
    """Patterns, one a row, and how many items of each stratum have it: `weights` is strata by patterns."""

    patterns: Counts
    weights: Counts

    @property
    def total(self) -> Counts:
        """How many items have each pattern."""
        total: Counts = self.weights.sum(axis=0)
        return total

    @property
    def n(self) -> int:
        return int(self.weights.sum())


def sample_of_counts(counts: Counts, *, least: int = 1, strata: Counts | None = None) -> Sample:
    """The sample of items by categories; items with fewer than `least` ratings are left out."""
    return _sample(counts, counts.sum(axis=1) >= least, strata)


def sample_of_codes(rated: Counts, *, strata: Counts | None = None) -> Sample:
    """The sample of items by raters; items that nobody rated are left out."""
    return _sample(rated, (rated != MISSING).any(axis=1), strata)


def sample_of_table(table: Counts) -> Sample:
    """The sample of two raters' table: its cells, row by row, are the patterns."""
    return Sample(np.arange(table.size)[:, None], table.reshape(1, -1))


def _sample(rows: Counts, kept: NDArray[np.bool_], strata: Counts | None) -> Sample:
    """`strata` names the stratum of each row by a number from 0."""
    patterns, places = distinct_rows(rows[kept])
    own = np.zeros(len(places), dtype=np.int64) if strata is None else strata[kept]
    size = int(own.max(initial=0)) + 1
    weights = np.bincount(own * len(patterns) + places, minlength=size * len(patterns))
    return Sample(patterns, weights.reshape(size, len(patterns)))


def resampled(sample: Sample, *, seed: int, resamples: int) -> Iterator[Floats]:
    """Counts of patterns over resampled items, each stratum keeping its size; draws by patterns, some at a time.

    What is drawn depends on the seed alone, not on how many are handed out at a time.
    """
    if not resamples:
        return
    strata = sample.weights[sample.weights.sum(axis=1) > 0]
    seeds = [np.random.SeedSequence(seed)]
    if len(strata) > 1:
        seeds = seeds[0].spawn(len(strata))
    chances = [np.random.Generator(np.random.PCG64(own)) for own in seeds]
    step = max(1, CELLS_AT_ONCE // max(len(sample.patterns), 10 * sample.patterns.shape[1], 1))
    for first in range(0, resamples, step):
        rows = min(step, resamples - first)
        drawn = np.zeros((rows, strata.shape[1]))
        for chance, weights in zip(chances, strata, strict=True):
            drawn += chance.multinomial(weights.sum(), weights / weights.sum(), size=rows)
        yield drawn
