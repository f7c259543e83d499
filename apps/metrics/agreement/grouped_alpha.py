"""Where people agree and where they do not: by any parts of the items, and by the boundary between two grades.

Items are counted by pattern: how many people gave each grade. Only items graded by two people or more count. All
results are functions of the counts of patterns, so a bootstrap over items is one multinomial draw. No database.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import floor, log10
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from apps.metrics.agreement.alpha import krippendorff_alpha
from apps.metrics.agreement.counting import Floats, Parts, alpha_parts, category_counts, chance_corrected, distinct_rows
from apps.metrics.agreement.ratings import Ratings
from apps.metrics.agreement.results import Coefficient
from apps.metrics.agreement.uncertainty import CONFIDENCE, RESAMPLES
from apps.metrics.estimate import Estimate
from apps.metrics.statistics.bootstrap import DEFAULT_SEED, interval_of_defined

Counts = NDArray[np.int64]
PARTS_AT_ONCE = 2_000
FEWEST_PLACES = 3
LEVEL = "ordinal"


class Differing(NamedTuple):
    """Of `n` comparisons of two grades of one item, those that differ."""

    hits: int
    n: int


@dataclass(frozen=True)
class Boundary:
    """The boundary between two neighbouring grades, and how often the grades of two people are on its two sides.

    `crossings` of `comparisons` are across it. `share` is its part of the crossings of all boundaries, whose sum is the
    distance between grades in steps; None without any. `alpha` is α of the grades reduced to their side.
    """

    below: int
    above: int
    crossings: int
    comparisons: int
    share: float | None
    interval: tuple[float, float] | None
    alpha: Coefficient

    @property
    def estimate(self) -> Estimate:
        """The share with its interval."""
        reason = "" if self.comparisons else "Nobody differs."
        return Estimate.of(self.share, self.interval, self.comparisons, "bootstrap", reason)


@dataclass(frozen=True)
class PatternCounts:
    """How often each pattern occurs in each part.

    `patterns` is patterns by grades, `weights` parts by patterns. Items of no part are not included.
    """

    grades: tuple[int, ...]
    patterns: Counts
    weights: Counts

    @property
    def total(self) -> Counts:
        """How often each pattern occurs in all parts."""
        total: Counts = self.weights.sum(axis=0)
        return total

    @property
    def sizes(self) -> list[int]:
        """The number of items of each part."""
        return [int(n) for n in self.weights.sum(axis=1)]

    def alpha_of(self, part: int) -> Coefficient:
        """Krippendorff's ordinal α of one part, with its interval."""
        counts = np.repeat(self.patterns, self.weights[part], axis=0)
        return krippendorff_alpha(counts, level=LEVEL, values=self.grades)


def pattern_counts(ratings: Ratings, parts: NDArray[np.int64] | None = None, size: int = 1) -> PatternCounts:
    """Count the items by pattern and part. `parts` has the part of each item, from 0 to size - 1, or -1 for none.

    Without `parts` all items are in one part.
    """
    counts = category_counts(ratings.codes, len(ratings.grades))
    own = np.zeros(len(counts), dtype=np.int64) if parts is None else parts
    counted = (counts.sum(axis=1) >= 2) & (own >= 0)
    patterns, pattern = distinct_rows(counts[counted])
    weights = np.bincount(own[counted] * len(patterns) + pattern, minlength=size * len(patterns))
    return PatternCounts(ratings.grades, patterns, weights.reshape(size, len(patterns)))


def differing(counts: PatternCounts) -> list[Differing]:
    """For each part, how many comparisons of two people differ."""
    raters = counts.patterns.sum(axis=1)
    pairs = raters * (raters - 1) // 2
    apart = pairs - (counts.patterns * (counts.patterns - 1) // 2).sum(axis=1)
    hits, n = (counts.weights @ apart).tolist(), (counts.weights @ pairs).tolist()
    return [Differing(*row) for row in zip(hits, n, strict=True)]


# Change without a part


def changes_without(counts: PatternCounts) -> Floats:
    """The change of ordinal α when each part is left out; nan where α is undefined with or without it."""
    if not counts.patterns.size:
        return np.full(len(counts.weights), np.nan)
    parts = _alpha(counts)
    whole = _values(parts, counts.total[None, :])
    rows = range(0, len(counts.weights), PARTS_AT_ONCE)
    without = [_values(parts, counts.total - counts.weights[start : start + PARTS_AT_ONCE]) for start in rows]
    return np.concatenate(without) - whole


def change_without(counts: PatternCounts, part: int) -> Estimate:
    """The change of α without a part: above 0 where the part lowers it. `n`: items of the part.

    The interval resamples the items of the part and the others separately; None where most resamples are undefined.
    """
    parts = _alpha(counts)
    inside, outside = counts.weights[part], counts.total - counts.weights[part]
    value = float((_values(parts, outside[None, :]) - _values(parts, counts.total[None, :]))[0])
    dice = np.random.Generator(np.random.PCG64(DEFAULT_SEED))
    own, others = (dice.multinomial(n.sum(), n / max(1, n.sum()), size=RESAMPLES) for n in (inside, outside))
    values = _values(parts, others) - _values(parts, own + others)
    return Estimate.of(value, interval_of_defined(values, CONFIDENCE), int(inside.sum()), "bootstrap", "")


def places_for(values: Sequence[float]) -> int:
    """The number of decimals, at least three, that gives the largest value two significant digits."""
    largest = max(values, default=0.0)
    return max(FEWEST_PLACES, 1 - floor(log10(largest))) if largest > 0 else FEWEST_PLACES


def _alpha(counts: PatternCounts) -> Parts:
    return alpha_parts(counts.patterns.astype(float), LEVEL, counts.grades)


def _values(parts: Parts, weights: Counts) -> Floats:
    """α for each row of pattern counts; nan for rows of fewer than two items or with one grade."""
    with np.errstate(invalid="ignore", divide="ignore"):
        alphas = chance_corrected(*parts(weights.astype(float)))
    return np.where(weights.sum(axis=1) > 1, alphas, np.nan)


# Boundaries between grades


def boundaries(ratings: Ratings) -> list[Boundary]:
    """Each boundary between neighbouring grades of the scale, lowest first; none for a scale of one grade."""
    counts = pattern_counts(ratings)
    below = np.cumsum(counts.patterns, axis=1)[:, :-1]
    raters = counts.patterns.sum(axis=1, keepdims=True)
    astride = below * (raters - below)
    comparisons = int(counts.total @ (raters[:, 0] * (raters[:, 0] - 1) // 2)) if len(raters) else 0
    shares = _shares_of_crossings(astride, counts.total)
    return [
        Boundary(
            below=ratings.grades[place],
            above=ratings.grades[place + 1],
            crossings=int(counts.total @ astride[:, place]),
            comparisons=comparisons,
            share=share,
            interval=interval,
            alpha=_cut_in_two(below[:, place], raters[:, 0], counts.total),
        )
        for place, (share, interval) in enumerate(shares)
    ]


def _shares_of_crossings(astride: Counts, total: Counts) -> list[tuple[float | None, tuple[float, float] | None]]:
    """Each boundary's share of all crossings with its bootstrap interval over items."""
    crossings = total @ astride
    if not crossings.sum():
        return [(None, None)] * astride.shape[1]
    dice = np.random.Generator(np.random.PCG64(DEFAULT_SEED))
    drawn = dice.multinomial(total.sum(), total / total.sum(), size=RESAMPLES) @ astride
    sums = drawn.sum(axis=1, keepdims=True)
    shares = np.where(sums > 0, drawn / np.maximum(sums, 1), np.nan)
    values = (crossings / crossings.sum()).tolist()
    return [(value, interval_of_defined(shares[:, place], CONFIDENCE)) for place, value in enumerate(values)]


def _cut_in_two(below: Counts, raters: Counts, total: Counts) -> Coefficient:
    """α of grades reduced to their side of a boundary."""
    sides = np.column_stack([below, raters - below])
    return krippendorff_alpha(np.repeat(sides, total, axis=0), level="nominal")
