"""Any number of raters, missing cells allowed: Fleiss, Gwet, Brennan and Prediger, percent agreement.

Agreement is averaged over items with two raters or more; chance is computed from all rated items. Standard errors are
those of Gwet, Handbook of Inter-Rater Reliability (4th edition, 2014), chapter 5, for items sampled from a large
population.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from apps.metrics.agreement.alpha_values import added_up, undefined_reason
from apps.metrics.agreement.counting import Counts
from apps.metrics.agreement.results import Coefficient, undefined
from apps.metrics.agreement.samples import Floats, Sample, sample_of_counts
from apps.metrics.agreement.uncertainty import CONFIDENCE, RESAMPLES, Estimator, Settings, estimate
from apps.metrics.agreement.weights import agreement_weights
from apps.metrics.statistics.seeds import DEFAULT_SEED

Chance = Callable[[Floats], Floats]
Estimable = Estimator | Coefficient
"""An estimator whose interval is still to be computed, or a coefficient that is undefined from the start."""


# One coefficient at a time


def fleiss_kappa(
    counts: Counts,
    *,
    kind: str = "nominal",
    values: Sequence[float] | None = None,
    seed: int = DEFAULT_SEED,
    resamples: int = RESAMPLES,
    confidence: float = CONFIDENCE,
    strata: Counts | None = None,
) -> Coefficient:
    """Fleiss' kappa from items by categories (Fleiss 1971), for two raters Scott's pi.

    Where the number of raters differs between items this is Gwet's generalisation: agreement is averaged over items
    with two raters or more, the share of a category over all rated items. `strata` has the number of each item's
    stratum, from 0; items are then resampled within strata.
    """
    sample = sample_of_counts(counts, strata=strata)
    return estimate(sample, fleiss(sample, _weights(counts, kind, values), kind), Settings(seed, resamples, confidence))


def gwet_ac(
    counts: Counts,
    *,
    kind: str = "nominal",
    values: Sequence[float] | None = None,
    seed: int = DEFAULT_SEED,
    resamples: int = RESAMPLES,
    confidence: float = CONFIDENCE,
    strata: Counts | None = None,
) -> Coefficient:
    """Gwet's AC1, or AC2 with weights, from items by categories (Gwet 2008; 2014, chapters 4 and 5).

    Chance depends on the number of categories: include a column for each possible one.
    """
    sample = sample_of_counts(counts, strata=strata)
    return estimate(sample, gwet(sample, _weights(counts, kind, values), kind), Settings(seed, resamples, confidence))


def brennan_prediger(
    counts: Counts,
    *,
    kind: str = "nominal",
    values: Sequence[float] | None = None,
    seed: int = DEFAULT_SEED,
    resamples: int = RESAMPLES,
    confidence: float = CONFIDENCE,
) -> Coefficient:
    """Brennan and Prediger's coefficient (1981): by chance all categories are equally likely."""
    sample = sample_of_counts(counts)
    coefficient = uniform_chance(sample, _weights(counts, kind, values), kind)
    return estimate(sample, coefficient, Settings(seed, resamples, confidence))


def pairwise_agreement(
    counts: Counts,
    *,
    seed: int = DEFAULT_SEED,
    resamples: int = RESAMPLES,
    confidence: float = CONFIDENCE,
    strata: Counts | None = None,
) -> Coefficient:
    """The share of equal pairs among all pairs of ratings of one item; an item with more raters has more weight."""
    sample = sample_of_counts(counts, least=2, strata=strata)
    return estimate(sample, pairwise(sample), Settings(seed, resamples, confidence))


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
    mean: Floats = np.where(items > 0, np.einsum("bp,p->b", draws, agreed) / np.maximum(items, 1), np.nan)
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
