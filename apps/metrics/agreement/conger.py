"""Conger's kappa: any number of raters, each with their own totals, missing cells allowed.

Standard error as for the other coefficients (Gwet 2014, chapter 5): the spread of the linearised values, where a
rater's shares are over the items that they rated.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from apps.metrics.agreement.alpha_values import undefined_reason
from apps.metrics.agreement.counting import MISSING, Counts, category_counts
from apps.metrics.agreement.many import Estimable, item_agreement, linearised, mean_over, named
from apps.metrics.agreement.results import Coefficient, undefined
from apps.metrics.agreement.samples import Floats, Sample, sample_of_codes
from apps.metrics.agreement.uncertainty import CONFIDENCE, RESAMPLES, Estimator, Settings, estimate
from apps.metrics.agreement.weights import agreement_weights
from apps.metrics.statistics.seeds import DEFAULT_SEED


def conger_kappa(
    rated: Counts,
    size: int,
    *,
    kind: str = "nominal",
    values: Sequence[float] | None = None,
    seed: int = DEFAULT_SEED,
    resamples: int = RESAMPLES,
    confidence: float = CONFIDENCE,
    strata: Counts | None = None,
) -> Coefficient:
    """Conger's kappa (1980): Cohen's for more than two raters, each with their own totals; for two it is Cohen's.

    `rated` is items by raters as `codes` returns them, `size` the number of categories.
    """
    sample = sample_of_codes(rated, size, strata=strata)
    closeness = agreement_weights(kind, range(size) if values is None else values)
    return estimate(sample, conger(sample, closeness, kind), Settings(seed, resamples, confidence))


def conger(sample: Sample, closeness: Floats, kind: str) -> Estimable:
    """Conger's kappa of a sample of items by raters."""
    rated, size = sample.patterns, len(closeness)
    name = named("Conger's κ", kind)
    counts = category_counts(rated, size)
    shared = counts.sum(axis=1) >= 2
    n = int(sample.total[shared].sum())
    if reason := undefined_reason(counts[shared & sample.seen].astype(float), n):
        return undefined(name, reason, n)
    agreed = item_agreement(counts, closeness)
    chosen = _chosen(rated, size)

    def parts(draws: Floats) -> tuple[Floats, Floats]:
        return mean_over(draws, agreed, shared), _met(_added_by_rater(draws, chosen), closeness)

    by_rater = _added_by_rater(sample.total[None, :].astype(float), chosen)[0]
    moves = _conger_moves(rated, by_rater, sample.n, closeness)
    influence = linearised(sample, agreed, shared, parts, moves)
    return Estimator(name, parts, influence, n, sample.n)


def _chosen(rated: Counts, size: int) -> list[tuple[Counts, Floats]]:
    """For each rater the rows of the patterns that they rated, and these by categories: 1 for the chosen one."""
    by_rater = []
    for own in rated.T:
        places = np.flatnonzero(own != MISSING)
        by_rater.append((places, (own[places, None] == np.arange(size)).astype(float)))
    return by_rater


def _added_by_rater(draws: Floats, chosen: list[tuple[Counts, Floats]]) -> Floats:
    """Draws by raters by categories: how often each rater chose each category.

    For each rater only the patterns that they rated are added, since each of many raters rated few. Whole numbers
    throughout: exact in any order and on any number of threads.
    """
    by_pattern = np.ascontiguousarray(draws.T)
    return np.stack([by_pattern[places].T @ choices for places, choices in chosen], axis=1)


def _met(by_rater: Floats, closeness: Floats) -> Floats:
    """Agreement by chance of each draw: the mean over all pairs of different raters of their shares' agreement.

    `by_rater` has draws by raters by categories; raters without a rating in a draw do not count in it.
    """
    totals = by_rater.sum(axis=2, keepdims=True)
    shares = by_rater / np.maximum(totals, 1)
    raters = (totals[:, :, 0] > 0).sum(axis=1)
    everybody = shares.sum(axis=1)
    all_pairs = (np.einsum("bi,ij->bj", everybody, closeness) * everybody).sum(axis=1)
    with_self = (np.einsum("bgi,ij->bgj", shares, closeness) * shares).sum(axis=(1, 2))
    met: Floats = np.where(raters > 1, (all_pairs - with_self) / np.maximum(raters * (raters - 1), 1), 1.0)
    return met


def _conger_moves(rated: Counts, by_rater: Floats, n: int, closeness: Floats) -> Floats:
    """The effect of an item of each pattern on agreement by chance, through the shares of its raters."""
    totals = by_rater.sum(axis=1)
    shares = by_rater / totals[:, None]
    raters = len(shares)
    others = np.einsum("gi,ij->gj", shares.sum(axis=0) - shares, closeness)
    expected = (others * shares).sum(axis=1)
    present = rated != MISSING
    gained = np.take_along_axis(others, np.where(present, rated, 0).T, axis=1).T - expected
    moves: Floats = (present * gained * (n / totals)).sum(axis=1) * 2 / (raters * (raters - 1))
    return moves
