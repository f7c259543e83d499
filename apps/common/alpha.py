"""Krippendorff's alpha, on counts of grades. Only the value: intervals are `agreement.coefficients`' business.

Krippendorff, Computing Krippendorff's Alpha-Reliability (2011), section C.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]
Parts = Callable[[Floats], tuple[Floats, Floats]]


def ordinal_alpha(items: Iterable[Sequence[int | None]]) -> float | None:
    """Alpha at the ordinal level over the grades that each item got, None standing for no grade.

    Items with one grade do not count. The answer is None where alpha is undefined: fewer than two items, or one
    grade used throughout.
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
    """The distinct rows of counts and how often each occurs; rows without any rating are left out."""
    rated = counts[counts.sum(axis=1) > 0]
    patterns, weights = np.unique(rated, axis=0, return_counts=True)
    return patterns.astype(float), weights.astype(np.int64)


def undefined_reason(patterns: Floats, n: int) -> str | None:
    """Say why agreement over `n` items of these patterns, each with two raters or more, has no value."""
    if n == 0:
        return "No item was rated by two people."
    if n == 1:
        return "One item only was rated by two people; agreement by chance cannot be told apart from it."
    if np.count_nonzero(patterns.sum(axis=0)) == 1:
        return "One category only was used; chance explains all of the agreement."
    return None


def alpha_parts(patterns: Floats, level: str, values: Sequence[float]) -> Parts:
    """Observed and expected agreement as functions of how often each pattern occurs, draws by patterns.

    `level` is nominal, ordinal or interval; `values` are those of the categories. Each pattern has two raters or
    more.
    """
    size = patterns.shape[1]
    points = np.asarray(values, dtype=float)
    raters = patterns.sum(axis=1)
    pairs = np.einsum("ui,uj->uij", patterns, patterns) - np.einsum("ui,ij->uij", patterns, np.eye(size))
    coincidences = (pairs / (raters - 1)[:, None, None]).reshape(len(patterns), -1)

    def parts(draws: Floats) -> tuple[Floats, Floats]:
        met = (draws @ coincidences).reshape(-1, size, size)
        marginals = met.sum(axis=2)
        total = marginals.sum(axis=1)
        differences = _differences(level, marginals, points)
        widest = np.maximum(differences.max(axis=(1, 2)), 1e-12)
        disagreement = (met * differences).sum(axis=(1, 2)) / total
        by_chance = np.einsum("bi,bj,bij->b", marginals, marginals, differences) / (total * (total - 1))
        return 1 - disagreement / widest, 1 - by_chance / widest

    return parts


def chance_corrected(observed: Floats, expected: Floats) -> Floats:
    """(observed - expected) / (1 - expected); nan where chance alone explains everything."""
    certain = expected > 1 - 1e-12
    return np.where(certain, np.nan, (observed - expected) / np.where(certain, 1.0, 1 - expected))


def _differences(level: str, marginals: Floats, points: Floats) -> Floats:
    """Squared differences between categories, one matrix a draw."""
    if level == "nominal":
        fixed = 1.0 - np.eye(len(points))
    elif level == "interval":
        fixed = (points[:, None] - points[None, :]) ** 2
    elif level == "ordinal":
        middle = np.cumsum(marginals, axis=1) - marginals / 2
        return (middle[:, :, None] - middle[:, None, :]) ** 2
    else:
        raise ValueError(f"{level!r} is not a level; use nominal, ordinal or interval")
    return np.broadcast_to(fixed, (len(marginals), *fixed.shape))
