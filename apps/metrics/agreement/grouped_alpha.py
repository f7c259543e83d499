"""Where people agree and where they do not: by any parts of the items, and by the boundary between two grades.

Items are counted by pattern: how many people gave each grade. Only items graded by two people or more count. All
results are functions of the counts of patterns. Intervals are over queries, as in
`apps.metrics.agreement.uncertainty`; those of one query alone over its items. No database.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import floor, log10, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from apps.metrics.agreement.alpha import krippendorff_alpha
from apps.metrics.agreement.counting import Floats, Parts, alpha_parts, category_counts, chance_corrected, distinct_rows
from apps.metrics.agreement.ratings import Ratings
from apps.metrics.agreement.results import Coefficient
from apps.metrics.agreement.uncertainty import (
    CONFIDENCE,
    OVER_CLUSTERS,
    Clusters,
    Estimator,
    clusters_from,
    crossed,
    estimates,
    left_out,
    sample_of_counts,
)
from apps.metrics.estimate import Estimate
from apps.metrics.statistics.proportions import freedom_of_spread, student_quantile

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
        return Estimate.of(self.share, self.interval, self.comparisons, OVER_CLUSTERS, reason)


@dataclass(frozen=True)
class PatternCounts:
    """How often each pattern occurs in each part.

    `patterns` is patterns by grades, `weights` parts by patterns. Items of no part are not included. `of_items` has
    pattern, part and clusters of each item.
    """

    grades: tuple[int, ...]
    patterns: Counts
    weights: Counts
    of_items: tuple[Counts, Counts, Counts]

    @property
    def total(self) -> Counts:
        """How often each pattern occurs in all parts."""
        total: Counts = self.weights.sum(axis=0)
        return total

    @property
    def sizes(self) -> list[int]:
        """The number of items of each part."""
        return [int(n) for n in self.weights.sum(axis=1)]

    def alpha_of(self, part: int, *, is_one_query: bool = False) -> Coefficient:
        """Krippendorff's ordinal α of one part, with its interval: over its items where the part is one query."""
        patterns, parts, labels = self.of_items
        inside = parts == part
        clusters = None if is_one_query else labels[inside]
        return krippendorff_alpha(self.patterns[patterns[inside]], level=LEVEL, values=self.grades, clusters=clusters)


def pattern_counts(ratings: Ratings, parts: NDArray[np.int64] | None = None, size: int = 1) -> PatternCounts:
    """Count the items by pattern and part. `parts` has the part of each item, from 0 to size - 1, or -1 for none.

    Without `parts` all items are in one part.
    """
    counts = category_counts(ratings.codes, len(ratings.grades))
    own = np.zeros(len(counts), dtype=np.int64) if parts is None else parts
    counted = (counts.sum(axis=1) >= 2) & (own >= 0)
    patterns, pattern = distinct_rows(counts[counted])
    weights = np.bincount(own[counted] * len(patterns) + pattern, minlength=size * len(patterns))
    of_items = pattern, own[counted], ratings.clusters[counted]
    return PatternCounts(ratings.grades, patterns, weights.reshape(size, len(patterns)), of_items)


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
    """The change of α without a part, one query: above 0 where the part lowers it. `n`: items of the part.

    The interval is Student's, from leaving out each other query, and each item of the part; None where the change is
    then undefined, or where either has only one.
    """
    parts = _alpha(counts)
    patterns, own, labels = counts.of_items
    inside, total, size = counts.weights[part], counts.total, int(counts.weights[part].sum())
    value = float((_values(parts, (total - inside)[None, :]) - _values(parts, total[None, :]))[0])
    places = np.flatnonzero(inside)
    without_item = _values(parts, (total - inside)[None, :]) - _values(
        parts, total - np.eye(len(total), dtype=np.int64)[places]
    )
    others = clusters_from(patterns[own != part], crossed(labels[own != part])[0])
    moved = np.concatenate([_changes(parts, others, inside, total), np.repeat(without_item, inside[places])])
    groups = np.repeat([0, 1], [others.size, size])
    return Estimate.of(value, _spread_interval(value, moved, groups), size, OVER_CLUSTERS, "")


def _changes(parts: Parts, others: Clusters, inside: Counts, total: Counts) -> Floats:
    """The change of α without a part when each other query is left out too."""
    pieces = [
        _values(parts, total - inside - own) - _values(parts, total - own) for own in left_out(others, len(total))
    ]
    return np.concatenate(pieces) if pieces else np.zeros(0)


def _spread_interval(value: float, moved: Floats, groups: Counts) -> tuple[float, float] | None:
    """Student's interval from the values without each one of two groups, each of which has a spread of its own."""
    sizes = np.bincount(groups, minlength=2)
    if sizes.min() < 2 or not np.isfinite(moved).all():
        return None
    means = np.bincount(groups, weights=moved) / sizes
    squares = (moved - means[groups]) ** 2 * ((sizes - 1) / sizes)[groups]
    degrees = freedom_of_spread(len(moved), float(squares.sum()), float((squares**2).sum()), groups=2)
    reach = student_quantile(CONFIDENCE, degrees) * sqrt(float(squares.sum()))
    return value - reach, value + reach


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
    items, _, clusters = counts.of_items
    below, raters, astride = _astride(counts.patterns)
    comparisons = int(counts.total @ (raters * (raters - 1) // 2)) if len(raters) else 0
    shares = _shares_of_crossings(counts.patterns[items], clusters)
    return [
        Boundary(
            below=ratings.grades[place],
            above=ratings.grades[place + 1],
            crossings=int(counts.total @ astride[:, place]),
            comparisons=comparisons,
            share=share,
            interval=interval,
            alpha=_cut_in_two(below[items, place], raters[items], clusters),
        )
        for place, (share, interval) in enumerate(shares)
    ]


def _astride(patterns: Counts) -> tuple[Counts, Counts, Counts]:
    """By pattern: grades below each boundary, all grades, and comparisons across each boundary."""
    below, raters = np.cumsum(patterns, axis=1)[:, :-1], patterns.sum(axis=1)
    return below, raters, below * (raters[:, None] - below)


def _shares_of_crossings(counts: Counts, clusters: Counts) -> list[tuple[float | None, tuple[float, float] | None]]:
    """Each boundary's share of all crossings with its interval, from items by grades."""
    sample = sample_of_counts(counts, clusters=clusters)
    astride = _astride(sample.patterns)[2].astype(float)
    if not (sample.total @ astride).sum():
        return [(None, None)] * astride.shape[1]

    def share_of(place: int) -> Parts:
        def parts(draws: Floats) -> tuple[Floats, Floats]:
            crossings = draws @ astride
            return crossings[:, place] / crossings.sum(axis=1), np.zeros(len(draws))

        return parts

    shares = [
        Estimator("share", share_of(place), np.zeros(len(astride)), sample.n, sample.n, is_agreement=False)
        for place in range(astride.shape[1])
    ]
    return [(one.value, _from_zero(one.interval)) for one in estimates(sample, shares)]


def _from_zero(interval: tuple[float, float] | None) -> tuple[float, float] | None:
    return (max(0.0, interval[0]), interval[1]) if interval else None


def _cut_in_two(below: Counts, raters: Counts, clusters: Counts) -> Coefficient:
    """α of grades reduced to their side of a boundary."""
    return krippendorff_alpha(np.column_stack([below, raters - below]), level="nominal", clusters=clusters)
