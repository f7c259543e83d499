"""Any number of raters, missing cells allowed: Fleiss, Conger, Gwet, Brennan and Prediger, percent agreement.

`clusters` labels the cluster of each item where intervals are over clusters.

Agreement is averaged over items with two raters or more; chance is computed from all rated items. Standard errors are
those of Gwet, Handbook of Inter-Rater Reliability (4th edition, 2014), chapter 5, for items sampled from a large
population.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from apps.metrics.agreement.counting import MISSING, Counts, added_up, category_counts, undefined_reason
from apps.metrics.agreement.results import Coefficient, agreement_weights, undefined
from apps.metrics.agreement.uncertainty import (
    DEFAULTS,
    Estimator,
    Floats,
    Sample,
    Settings,
    estimate,
    sample_of_codes,
    sample_of_counts,
)

Chance = Callable[[Floats], Floats]
Estimable = Estimator | Coefficient
"""An estimator whose interval is still to be computed, or a coefficient that is undefined from the start."""


# One coefficient at a time


def fleiss_kappa(
    counts: Counts,
    *,
    kind: str = "nominal",
    values: Sequence[float] | None = None,
    settings: Settings = DEFAULTS,
    clusters: Counts | None = None,
) -> Coefficient:
    """Fleiss' kappa from items by categories (Fleiss 1971), for two raters Scott's pi.

    Where the number of raters differs between items this is Gwet's generalisation: agreement is averaged over items
    with two raters or more, the share of a category over all rated items.
    """
    sample = sample_of_counts(counts, clusters=clusters)
    return estimate(sample, fleiss(sample, _weights(counts, kind, values), kind), settings)


def gwet_ac(
    counts: Counts,
    *,
    kind: str = "nominal",
    values: Sequence[float] | None = None,
    settings: Settings = DEFAULTS,
    clusters: Counts | None = None,
) -> Coefficient:
    """Gwet's AC1, or AC2 with weights, from items by categories (Gwet 2008; 2014, chapters 4 and 5).

    Chance depends on the number of categories: include a column for each possible one.
    """
    sample = sample_of_counts(counts, clusters=clusters)
    return estimate(sample, gwet(sample, _weights(counts, kind, values), kind), settings)


def conger_kappa(
    rated: Counts, size: int, *, settings: Settings = DEFAULTS, clusters: Counts | None = None
) -> Coefficient:
    """Conger's kappa (1980): Cohen's for more than two raters, each with their own totals; for two it is Cohen's.

    `rated` is items by raters as `codes` returns them, `size` the number of categories. The standard error is the
    spread of the linearised values, where a rater's shares are over the items that they rated.
    """
    sample = sample_of_codes(rated, size, clusters=clusters)
    return estimate(sample, conger(sample, agreement_weights("nominal", range(size)), "nominal"), settings)


# Their parts


def fleiss(sample: Sample, closeness: Floats, kind: str) -> Estimable:
    """Fleiss' kappa of a sample of items by categories."""

    def chance(marginals: Floats) -> Floats:
        met: Floats = (np.einsum("bi,ij->bj", marginals, closeness) * marginals).sum(axis=1)
        return met

    def shift(shares: Floats, marginals: Floats) -> Floats:
        return 2 * _dots(shares, np.einsum("ij,j->i", closeness, marginals))

    return _from_totals(sample, closeness, named("Fleiss' κ", kind), chance, shift)


def gwet(sample: Sample, closeness: Floats, kind: str) -> Estimable:
    """Gwet's AC1 or AC2 of a sample of items by categories."""
    size = len(closeness)
    scale = float(closeness.sum()) / (size * (size - 1)) if size > 1 else 0.0

    def chance(marginals: Floats) -> Floats:
        likely: Floats = scale * (marginals * (1 - marginals)).sum(axis=1)
        return likely

    def shift(shares: Floats, marginals: Floats) -> Floats:
        return 2 * scale * _dots(shares, 1 - marginals)

    name = "Gwet's AC1" if kind == "nominal" else f"Gwet's AC2, {kind}"
    return _from_totals(sample, closeness, name, chance, shift)


def uniform_chance(sample: Sample, closeness: Floats, kind: str) -> Estimable:
    """Brennan and Prediger's coefficient of a sample of items by categories."""
    likely = float(closeness.mean())

    def chance(marginals: Floats) -> Floats:
        return np.full(len(marginals), likely)

    def shift(shares: Floats, marginals: Floats) -> Floats:
        return np.zeros(len(shares))

    return _from_totals(sample, closeness, named("Brennan and Prediger's coefficient", kind), chance, shift)


def _from_totals(
    sample: Sample,
    closeness: Floats,
    name: str,
    chance: Chance,
    shift: Callable[[Floats, Floats], Floats],
) -> Estimable:
    """A coefficient whose chance comes from the shares of the categories.

    `chance` maps those shares, draws by categories, to agreement by chance. `shift` is the effect of an item on that,
    up to a constant, from the shares within each pattern.
    """
    patterns = sample.patterns
    shared, n = _shared(sample)
    if reason := undefined_reason(patterns[shared & sample.seen].astype(float), n):
        return undefined(name, reason, n)
    raters = patterns.sum(axis=1)
    agreed = item_agreement(patterns, closeness)

    def parts(draws: Floats) -> tuple[Floats, Floats]:
        marginals = added_up(draws, patterns, raters) / draws.sum(axis=1, keepdims=True)
        return mean_over(draws, agreed, shared), chance(marginals)

    whole = sample.total[None, :].astype(float)
    marginals = added_up(whole, patterns, raters)[0] / sample.n
    moves = shift(patterns / raters[:, None], marginals)
    influence = linearised(sample, agreed, shared, parts, moves)
    return Estimator(name, parts, influence, n, sample.n)


def pairwise(sample: Sample) -> Estimable:
    """Percent agreement over pairs of ratings, of a sample of items that two people or more rated."""
    name = "percent agreement"
    if not sample.n:
        return undefined(name, "No item was rated by two people.")
    patterns = sample.patterns.astype(float)
    raters = patterns.sum(axis=1)
    met = np.column_stack([(patterns * (patterns - 1)).sum(axis=1), raters * (raters - 1)])

    def parts(draws: Floats) -> tuple[Floats, Floats]:
        added = draws @ met  # whole numbers: exact
        return added[:, 0] / added[:, 1], np.zeros(len(draws))

    alike, pairs = sample.total @ met
    influence = (met[:, 0] - met[:, 1] * alike / pairs) * sample.n / pairs
    return Estimator(name, parts, influence, sample.n, sample.n) if sample.n > 1 else _of_one(name, alike / pairs)


def _of_one(name: str, value: float) -> Coefficient:
    """Percent agreement on a single item: no interval can be computed from it."""
    return Coefficient(name, float(value), 1, method="no interval: one item only")


def linearised(
    sample: Sample, agreed: Floats, shared: Counts, parts: Callable[[Floats], tuple[Floats, Floats]], moves: Floats
) -> Floats:
    """The linearised value of each pattern's items less the coefficient (Gwet 2014, chapter 5).

    Items with one rating count in the totals, without agreement of their own. `moves` is the effect of an item on
    agreement by chance, up to a constant.
    """
    weights = sample.total
    observed, expected = (float(part[0]) for part in parts(weights[None, :].astype(float)))
    value = (observed - expected) / (1 - expected)
    n, paired = weights.sum(), weights[shared].sum()
    own = np.where(shared, n / paired * (agreed - expected), 0.0)
    centred = moves - (weights * moves).sum() / n
    influence: Floats = (own - (1 - value) * centred) / (1 - expected) - value
    return influence


def item_agreement(patterns: Counts, closeness: Floats) -> Floats:
    """For each pattern the weighted share of agreeing pairs of raters; 0 without a pair."""
    raters = patterns.sum(axis=1)
    near = np.einsum("pi,ij->pj", patterns.astype(float), closeness)
    alike = (patterns * (near - 1)).sum(axis=1)
    share: Floats = alike / np.maximum(raters * (raters - 1), 1)
    return share


def mean_over(draws: Floats, agreed: Floats, shared: Counts) -> Floats:
    """The mean agreement of the items with two raters in each draw; nan where a draw has none."""
    items = draws @ shared.astype(float)
    mean: Floats = np.where(items > 0, np.einsum("bp,p->b", draws, agreed) / np.where(items > 0, items, 1), np.nan)
    return mean


def _shared(sample: Sample) -> tuple[Counts, int]:
    """Which patterns have two raters or more, and how many items have those."""
    shared = sample.patterns.sum(axis=1) >= 2
    return shared, int(sample.total[shared].sum())


def _dots(shares: Floats, factors: Floats) -> Floats:
    dots: Floats = (shares * factors).sum(axis=1)
    return dots


def named(name: str, kind: str) -> str:
    return name if kind == "nominal" else f"{name}, {kind}"


def _weights(counts: Counts, kind: str, values: Sequence[float] | None) -> Floats:
    return agreement_weights(kind, range(counts.shape[1]) if values is None else values)


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

    `by_rater` has draws by raters by categories; raters without a whole rating in a draw do not count in it, since
    nobody knows them by their part of the imagined item.
    """
    totals = by_rater.sum(axis=2, keepdims=True)
    counted = totals >= 1
    shares = np.where(counted, by_rater, 0.0) / np.maximum(totals, 1)
    raters = counted[:, :, 0].sum(axis=1)
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
