"""From labels to counts and patterns of ratings, and Krippendorff's alpha on them: values without intervals.

Krippendorff, Computing Krippendorff's Alpha-Reliability (2011), section C.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Parts = Callable[[Floats], tuple[Floats, Floats]]

LEVELS = ("nominal", "ordinal", "interval", "ratio")


def ordinal_alpha(items: Iterable[Sequence[int | None]]) -> float | None:
    """Alpha at the ordinal level over the grades of each item; None is no grade.

    Items with one grade do not count. None where alpha is undefined: fewer than two items, or one grade throughout.
    """
    graded = [[grade for grade in item if grade is not None] for item in items]
    graded = [item for item in graded if len(item) > 1]
    scale = sorted({grade for item in graded for grade in item})
    places = {grade: place for place, grade in enumerate(scale)}
    counts = np.zeros((len(graded), len(scale)), dtype=np.int64)
    for row, item in enumerate(graded):
        for grade in item:
            counts[row, places[grade]] += 1
    patterns, weights = distinct_patterns(counts)
    if undefined_reason(patterns, int(weights.sum())):
        return None
    observed, expected = alpha_parts(patterns, "ordinal", scale)(weights[None, :].astype(float))
    return float(chance_corrected(observed, expected)[0])


def distinct_patterns(counts: Counts) -> tuple[Floats, Counts]:
    """The distinct rows of counts and how often each occurs, without rows of no rating."""
    rated = counts[counts.sum(axis=1) > 0]
    patterns, weights = np.unique(rated, axis=0, return_counts=True)
    return patterns.astype(float), weights.astype(np.int64)


def undefined_reason(patterns: Floats, n: int) -> str | None:
    """Why agreement over `n` items of these patterns, each with two raters or more, is undefined; None if it is not."""
    if n == 0:
        return "No item was rated by two people."
    if n == 1:
        return "Only one item was rated by two people, too few to estimate agreement by chance."
    if np.count_nonzero(patterns.sum(axis=0)) == 1:
        return "Only one category was used; chance explains all of the agreement."
    return None


def added_up(draws: Floats, features: Counts, divisors: Counts) -> Floats:
    """Draws by features: the sums of the features of all patterns, each divided by its pattern's divisor.

    Patterns of one divisor are added as whole numbers first. Those sums are exact, so the result is the same to the
    last bit in any order and on any number of threads.
    """
    total = np.zeros((len(draws), features.shape[1]))
    for divisor in np.unique(divisors[divisors > 0]).tolist():
        own = divisors == divisor
        total += (draws[:, own] @ features[own].astype(float)) / divisor
    return total


def alpha_parts(patterns: Floats, level: str, values: Sequence[float]) -> Parts:
    """Observed and expected agreement as functions of how often each pattern occurs, draws by patterns.

    `level` is nominal, ordinal, interval or ratio; `values` are those of the categories, from 0 at the ratio level.
    Patterns with fewer than two raters do not count. Agreement is 1 less the disagreement as a share of the widest.
    """
    if level not in LEVELS:
        raise ValueError(f"{level!r} is not a level; use {', '.join(LEVELS[:-1])} or {LEVELS[-1]}")
    counts = np.where((patterns.sum(axis=1) >= 2)[:, None], patterns, 0).astype(np.int64)
    points = np.asarray(values, dtype=float)
    return _ordinal_parts(counts) if level == "ordinal" else _fixed_parts(counts, differences(level, points))


def _fixed_parts(counts: Counts, apart: Floats) -> Parts:
    """Parts where the differences between categories do not depend on their counts."""
    widest = max(float(apart.max(initial=0.0)), 1e-12)
    raters = counts.sum(axis=1)
    own = (np.einsum("pi,ij->pj", counts.astype(float), apart) * counts).sum(axis=1) / np.maximum(raters - 1, 1)

    def parts(draws: Floats) -> tuple[Floats, Floats]:
        marginals = draws @ counts.astype(float)
        total = marginals.sum(axis=1)
        by_chance = (np.einsum("bi,ij->bj", marginals, apart) * marginals).sum(axis=1)
        return _agreement(np.einsum("bp,p->b", draws, own), by_chance, total, widest)

    return parts


def _ordinal_parts(counts: Counts) -> Parts:
    """Parts at the ordinal level: the squared number of ratings from one category to the other.

    With middle ranks m, the squared differences of all pairs are computed from sums of m and of its square.
    """
    raters = counts.sum(axis=1).astype(float)
    features = counts.astype(float)
    paired = np.maximum(raters - 1, 1)

    def parts(draws: Floats) -> tuple[Floats, Floats]:
        marginals = draws @ features
        total = marginals.sum(axis=1)
        middles = 2 * np.cumsum(marginals, axis=1) - marginals  # twice the ranks: whole numbers, exact when added
        squares, sums = middles**2 @ features.T, middles @ features.T
        own = 2 * (raters * squares - sums**2) / paired
        by_chance = 2 * (total * (marginals * middles**2).sum(axis=1) - (marginals * middles).sum(axis=1) ** 2)
        widest = np.maximum((middles[:, -1] - middles[:, 0]) ** 2, 1e-12)
        return _agreement((draws * own).sum(axis=1), by_chance, total, widest)

    return parts


def _agreement(apart: Floats, by_chance: Floats, total: Floats, widest: Floats | float) -> tuple[Floats, Floats]:
    """Observed and expected agreement; both nan-free, and alpha undefined, where a draw has no two ratings."""
    ratings = np.maximum(total, 2)
    return 1 - apart / ratings / widest, 1 - by_chance / (ratings * (ratings - 1)) / widest


def chance_corrected(observed: Floats, expected: Floats) -> Floats:
    """(observed - expected) / (1 - expected); nan where chance alone explains everything."""
    certain = expected > 1 - 1e-12
    return np.where(certain, np.nan, (observed - expected) / np.where(certain, 1.0, 1 - expected))


def differences(level: str, points: Floats) -> Floats:
    """Squared differences between categories of these values (Krippendorff 2011, section C), but for ordinal ones."""
    across, down = points[:, None], points[None, :]
    if level == "nominal":
        return 1.0 - np.eye(len(points))
    if level == "interval":
        return (across - down) ** 2
    sums = across + down
    return np.where(sums != 0, (across - down) / np.where(sums != 0, sums, 1.0), 0.0) ** 2


MISSING = -1

Counts = NDArray[np.int64]


def codes(ratings: Sequence[Sequence[object]], categories: Sequence[object]) -> Counts:
    """Items by raters as positions in `categories`; None becomes MISSING.

    Raises ValueError for a label that is not among the categories.
    """
    positions: dict[object, int] = {category: place for place, category in enumerate(categories)}
    positions[None] = MISSING
    try:
        rows = [[positions[label] for label in item] for item in ratings]
    except KeyError as error:
        raise ValueError(f"{error.args[0]!r} is not one of the categories {list(categories)!r}") from None
    return np.array(rows, dtype=np.int64).reshape(len(rows), -1)


def pair_table(first: Counts, second: Counts, size: int) -> Counts:
    """How often each pair of categories met: rows are the first rater's, columns the second's."""
    both = (first != MISSING) & (second != MISSING)
    flat = np.bincount(first[both] * size + second[both], minlength=size * size)
    return flat.reshape(size, size)


class Cells(NamedTuple):
    """For each item that two raters rated its cell in their table, row by row, and the labels of its clusters."""

    cells: Counts
    clusters: Counts


def pair_cells(first: Counts, second: Counts, size: int, clusters: Counts) -> Cells:
    """The cells of the items that both rated; `clusters` labels all items."""
    both = (first != MISSING) & (second != MISSING)
    return Cells(first[both] * size + second[both], clusters[both])


def category_counts(rated: Counts, size: int) -> Counts:
    """Items by categories: how many raters chose each."""
    counts = np.zeros((len(rated), size), dtype=np.int64)
    for category in range(size):
        counts[:, category] = (rated == category).sum(axis=1)
    return counts


def table_counts(table: Counts, cells: Cells | None = None) -> Counts:
    """The table of two raters as items by categories, in the order of `cells` where they are given."""
    size = len(table)
    each = cells.cells if cells else np.repeat(np.arange(size * size), table.reshape(-1))
    rows, columns = np.divmod(each, size)
    return category_counts(np.column_stack([rows, columns]), size)


def distinct_rows(rows: Counts) -> tuple[Counts, Counts]:
    """The distinct rows in ascending order, and for each row its index among them."""
    keys = _keys(rows)
    if keys is None:
        patterns, places = np.unique(rows, axis=0, return_inverse=True)
        return patterns, places.reshape(-1)
    _, first, places = np.unique(keys, return_index=True, return_inverse=True)
    return rows[first], places.reshape(-1)


def _keys(rows: Counts) -> Counts | None:
    """A whole number for each row, ordered as the rows are; None where it would not fit in 63 bits."""
    low, high = (int(rows.min()), int(rows.max())) if rows.size else (0, 0)
    base = high - low + 1
    if base ** rows.shape[1] >= 2**63:
        return None
    keys = np.zeros(len(rows), dtype=np.int64)
    for column in range(rows.shape[1]):
        keys = keys * base + (rows[:, column] - low)
    return keys
