"""Coefficients of agreement between annotators, on NumPy arrays.

Ratings come as a matrix of items by raters holding positions in the list of categories, `MISSING` where
nobody rated. Every coefficient is a function of how often each pattern of ratings occurred. That makes the
bootstrap over items one multinomial draw of those counts, whatever the number of items.

What is not defined has no value but a reason in words; it is never 1.0 and never an exception.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from apps.common.alpha import Floats, Parts, alpha_parts, chance_corrected, distinct_patterns, undefined_reason
from apps.common.intervals import normal_quantile, wilson

MISSING = -1
RESAMPLES = 2_000
SEED = 20_240_229
TOO_NOISY = 0.4
ACCEPTABLE = 0.6
MAX_UNDEFINED_SHARE = 0.5

Counts = NDArray[np.int64]


@dataclass(frozen=True)
class Coefficient:
    """A value with its uncertainty, or the reason why there is none.

    `n` counts the items the value rests on. `method` says how the interval was made.
    """

    name: str
    value: float | None
    n: int
    interval: tuple[float, float] | None = None
    reason: str = ""
    method: str = ""
    standard_error: float | None = None

    @property
    def is_defined(self) -> bool:
        return self.value is not None


def undefined(name: str, reason: str, n: int = 0) -> Coefficient:
    return Coefficient(name=name, value=None, n=n, reason=reason)


def band(value: float) -> str:
    """The word for a kappa: below 0.4 too noisy, above 0.6 acceptable, unsettled between."""
    if value < TOO_NOISY:
        return "too noisy"
    return "acceptable" if value > ACCEPTABLE else "unsettled"


# Counting


def codes(ratings: Sequence[Sequence[object]], categories: Sequence[object]) -> NDArray[np.int64]:
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


def pair_table(first: NDArray[np.int64], second: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    """How often each pair of categories met: rows are the first rater's, columns the second's."""
    both = (first != MISSING) & (second != MISSING)
    flat = np.bincount(first[both] * size + second[both], minlength=size * size)
    return flat.reshape(size, size)


def category_counts(rated: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    """Items by categories: how many raters chose each."""
    counts = np.zeros((len(rated), size), dtype=np.int64)
    rows, columns = np.nonzero(rated != MISSING)
    np.add.at(counts, (rows, rated[rows, columns]), 1)
    return counts


# Weights


def agreement_weights(kind: str, values: Sequence[float]) -> Floats:
    """1 on the diagonal, less the further two categories lie apart.

    `nominal` gives nothing for a near miss, `linear` and `quadratic` take the distance between the values
    of the categories as a share of the widest distance (Cohen 1968; Fleiss and Cohen 1973).
    """
    points = np.asarray(values, dtype=float)
    distance = np.abs(points[:, None] - points[None, :])
    if kind == "nominal":
        return (distance == 0).astype(float)
    if kind not in {"linear", "quadratic"}:
        raise ValueError(f"{kind!r} is not a kind of weights; use nominal, linear or quadratic")
    widest = distance.max() or 1.0
    return 1.0 - (distance / widest) ** (1 if kind == "linear" else 2)


# Uncertainty


def bootstrap(
    parts: Parts, weights: Counts, *, seed: int, resamples: int, confidence: float = 0.95
) -> tuple[float, float] | None:
    """Percentile interval of a coefficient over resampled items.

    `weights` counts the items of each pattern. `parts` maps draws by patterns to observed and expected
    agreement, one of each a draw. Returns None when more than half of the draws are undefined.
    """
    total = int(weights.sum())
    draws = np.random.default_rng(seed).multinomial(total, weights / total, size=resamples)
    values = chance_corrected(*parts(draws.astype(float)))
    defined = values[np.isfinite(values)]
    if len(defined) < (1 - MAX_UNDEFINED_SHARE) * resamples:
        return None
    tail = (1 - confidence) / 2
    low, high = np.quantile(defined, [tail, 1 - tail])
    return float(low), float(high)


def _estimate(
    name: str,
    parts: Parts,
    weights: Counts,
    *,
    seed: int,
    resamples: int,
    standard_error: float | None = None,
) -> Coefficient:
    """Value and interval of a coefficient from the counts of its patterns.

    When every item agrees each resample agrees too, and the bootstrap would claim certainty. Then the lower
    end is what the coefficient would be at Wilson's lower bound of percent agreement, chance left as it is.
    """
    n = int(weights.sum())
    observed, expected = (float(part[0]) for part in parts(weights[None, :].astype(float)))
    value = float(chance_corrected(np.array([observed]), np.array([expected]))[0])
    bounds = wilson(n, n)
    if observed > 1 - 1e-12 and bounds:
        low = max(-1.0, (bounds[0] - expected) / (1 - expected))
        return Coefficient(name, value, n, (low, 1.0), "", "Wilson bound of percent agreement", standard_error)
    interval = bootstrap(parts, weights, seed=seed, resamples=resamples)
    return Coefficient(name, value, n, interval, "", "bootstrap over items", standard_error)


# Two raters


def percent_agreement(table: NDArray[np.int64]) -> Coefficient:
    """Share of items that two raters labelled alike, from their table of counts, with Wilson's interval."""
    n = int(table.sum())
    if n == 0:
        return undefined("percent agreement", "They share no item.")
    alike = int(np.trace(table))
    return Coefficient("percent agreement", alike / n, n, wilson(alike, n), method="Wilson")


def cohen_kappa(
    table: NDArray[np.int64],
    *,
    kind: str = "nominal",
    values: Sequence[float] | None = None,
    seed: int = SEED,
    resamples: int = RESAMPLES,
) -> Coefficient:
    """Cohen's kappa of two raters from their table of counts (Cohen 1960; weighted: Cohen 1968).

    `values` are the categories' values for linear and quadratic weights; their positions when not given.
    """
    size = len(table)
    n = int(table.sum())
    name = "Cohen's κ" if kind == "nominal" else f"Cohen's κ, {kind}"
    if reason := _pair_is_undefined(table):
        return undefined(name, reason, n)
    weights = agreement_weights(kind, range(size) if values is None else values)

    def parts(draws: Floats) -> tuple[Floats, Floats]:
        shares = (draws / draws.sum(axis=1, keepdims=True)).reshape(-1, size, size)
        observed = np.einsum("bij,ij->b", shares, weights)
        expected = np.einsum("bi,bj,ij->b", shares.sum(axis=2), shares.sum(axis=1), weights)
        return observed, expected

    error = _kappa_standard_error(table / n, weights, n)
    return _estimate(name, parts, table.reshape(-1), seed=seed, resamples=resamples, standard_error=error)


def _pair_is_undefined(table: NDArray[np.int64]) -> str | None:
    n = int(table.sum())
    if n == 0:
        return "They share no item."
    if n == 1:
        return "They share one item only; agreement by chance cannot be told apart from it."
    used = np.flatnonzero(table.sum(axis=0) + table.sum(axis=1))
    if len(used) == 1:
        return "Both used one category only; chance explains all of their agreement."
    return None


def _kappa_standard_error(shares: Floats, weights: Floats, n: int) -> float:
    """Large-sample standard error of (weighted) kappa: Fleiss, Cohen and Everitt 1969, formula 13."""
    rows, columns = shares.sum(axis=1), shares.sum(axis=0)
    row_means, column_means = weights @ columns, rows @ weights
    observed = float((shares * weights).sum())
    expected = float(rows @ weights @ columns)
    kappa = (observed - expected) / (1 - expected)
    terms = weights - (row_means[:, None] + column_means[None, :]) * (1 - kappa)
    spread = float((shares * terms**2).sum()) - (kappa - expected * (1 - kappa)) ** 2
    return float(np.sqrt(max(spread, 0.0) / n) / (1 - expected))


def standard_interval(coefficient: Coefficient, confidence: float = 0.95) -> tuple[float, float] | None:
    """The interval from the analytic standard error, cut at -1 and 1; None where there is none."""
    if coefficient.value is None or coefficient.standard_error is None:
        return None
    half = normal_quantile(confidence) * coefficient.standard_error
    return max(-1.0, coefficient.value - half), min(1.0, coefficient.value + half)


# Any number of raters


def fleiss_kappa(
    counts: NDArray[np.int64],
    *,
    kind: str = "nominal",
    values: Sequence[float] | None = None,
    seed: int = SEED,
    resamples: int = RESAMPLES,
) -> Coefficient:
    """Fleiss' kappa from items by categories (Fleiss 1971).

    Where the number of raters differs between items this is Gwet's generalisation (Handbook of Inter-Rater
    Reliability, 2014): agreement is averaged over items with two raters or more, the share of a category
    over all rated items. With the same number everywhere it equals Fleiss'.
    """
    patterns, weights = distinct_patterns(counts)
    shared = patterns.sum(axis=1) >= 2
    n = int(weights[shared].sum())
    name = "Fleiss' κ" if kind == "nominal" else f"Fleiss' κ, {kind}"
    if reason := undefined_reason(patterns[shared], n):
        return undefined(name, reason, n)
    closeness = agreement_weights(kind, range(counts.shape[1]) if values is None else values)
    agreement = _pairwise_agreement(patterns, closeness)
    shares = patterns / patterns.sum(axis=1, keepdims=True)

    def parts(draws: Floats) -> tuple[Floats, Floats]:
        pairs = draws * shared
        observed = (pairs @ agreement) / np.maximum(pairs.sum(axis=1), 1)
        marginals = (draws @ shares) / draws.sum(axis=1, keepdims=True)
        expected = np.einsum("bi,bj,ij->b", marginals, marginals, closeness)
        return observed, np.where(pairs.sum(axis=1) > 0, expected, 1.0)

    found = _estimate(name, parts, weights, seed=seed, resamples=resamples)
    return replace(found, n=n)


def krippendorff_alpha(
    counts: NDArray[np.int64],
    *,
    level: str = "nominal",
    values: Sequence[float] | None = None,
    seed: int = SEED,
    resamples: int = RESAMPLES,
) -> Coefficient:
    """Krippendorff's alpha from items by categories, at the nominal, ordinal or interval level.

    Items with one rating do not count.
    """
    patterns, weights = distinct_patterns(counts)
    shared = patterns.sum(axis=1) >= 2
    patterns, weights = patterns[shared], weights[shared]
    n = int(weights.sum())
    name = f"Krippendorff's α, {level}"
    if reason := undefined_reason(patterns, n):
        return undefined(name, reason, n)
    points = range(counts.shape[1]) if values is None else values
    parts = alpha_parts(patterns, level, points)
    return _estimate(name, parts, weights, seed=seed, resamples=resamples)


def _pairwise_agreement(patterns: Floats, closeness: Floats) -> Floats:
    """For each pattern the weighted share of its pairs of raters that agree; 0 where there is no pair."""
    raters = patterns.sum(axis=1)
    near = patterns @ closeness
    alike = (patterns * (near - 1)).sum(axis=1)
    return alike / np.maximum(raters * (raters - 1), 1)
