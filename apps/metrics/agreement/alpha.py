"""Krippendorff's alpha, at the nominal, ordinal, interval and ratio level; missing cells allowed.

Value: Krippendorff, Computing Krippendorff's Alpha-Reliability (2011). Standard error: Gwet, Handbook of Inter-Rater
Reliability (2014), chapter 5; at the ordinal level including the part due to estimated ranks.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from apps.metrics.agreement.counting import Counts, added_up, alpha_parts, differences, undefined_reason
from apps.metrics.agreement.results import Coefficient, undefined
from apps.metrics.agreement.uncertainty import (
    DEFAULTS,
    Estimator,
    Floats,
    Sample,
    Settings,
    estimate,
    sample_of_counts,
)


def krippendorff_alpha(
    counts: Counts,
    *,
    level: str = "nominal",
    values: Sequence[float] | None = None,
    settings: Settings = DEFAULTS,
    clusters: Counts | None = None,
) -> Coefficient:
    """Krippendorff's alpha from items by categories; items with one rating do not count.

    `values` are those of the categories, ascending; by default their positions. `clusters` labels the cluster of each
    item, such as its query; the interval is then over clusters.
    """
    sample = sample_of_counts(counts, least=2, clusters=clusters)
    points = [float(value) for value in (range(counts.shape[1]) if values is None else values)]
    return estimate(sample, alpha(sample, level, points), settings)


def alpha(sample: Sample, level: str, values: Sequence[float]) -> Estimator | Coefficient:
    """Alpha of a sample of items by categories, each with two ratings or more."""
    name = f"Krippendorff's α, {level}"
    patterns = sample.patterns.astype(float)
    if reason := undefined_reason(patterns[sample.seen], sample.n):
        return undefined(name, reason, sample.n)
    if level == "ratio" and min(values) < 0:
        return undefined(name, "The ratio level needs labels from 0; a label is negative.", sample.n)
    parts = alpha_parts(patterns, level, values)
    return Estimator(name, parts, _influence(sample, level, values), sample.n, sample.n)


def _influence(sample: Sample, level: str, values: Sequence[float]) -> Floats:
    """The linearised alpha of each pattern's items less alpha."""
    patterns, weights = sample.patterns.astype(float), sample.total
    n = sample.n
    raters = patterns.sum(axis=1)
    mean_raters = (weights * raters).sum() / n
    marginals = (weights[:, None] * patterns).sum(axis=0)
    apart = _ranks_apart(marginals) if level == "ordinal" else differences(level, np.asarray(values, dtype=float))
    shares = marginals / marginals.sum()
    near = np.einsum("pi,ij->pj", patterns, apart)
    own = (near * patterns).sum(axis=1) / (mean_raters * (raters - 1))
    observed = (weights * own).sum() / n
    # From here on disagreement, so that chance-corrected agreement is 1 - observed / expected.
    expected = float((np.einsum("i,ij->j", shares, apart) * shares).sum())
    more = (raters - mean_raters) / mean_raters
    by_chance = np.einsum("pj,j->p", near, shares) / mean_raters - expected * more
    corrected = observed * (1 - 1 / marginals.sum())  # the Handbook's correction for small samples, in this term only
    gained = own - observed - corrected * more
    met = 2 * (by_chance - expected)
    if level == "ordinal":
        moved, chance_moved = _moved_ranks(sample, marginals)
        gained, met = gained + moved, met + chance_moved
    ratio = observed / expected
    influence: Floats = -(gained - ratio * met) / expected
    return influence


def _ranks_apart(marginals: Floats) -> Floats:
    middles = np.cumsum(marginals) - marginals / 2
    apart: Floats = (middles[:, None] - middles[None, :]) ** 2
    return apart


def _moved_ranks(sample: Sample, marginals: Floats) -> tuple[Floats, Floats]:
    """The effect of an item of each pattern on observed and expected disagreement through the ranks of categories."""
    patterns, weights = sample.patterns, sample.total
    size = patterns.shape[1]
    pairs = (patterns[:, :, None] * patterns[:, None, :]).reshape(len(patterns), -1)
    met = added_up(weights[None, :].astype(float), pairs, patterns.sum(axis=1) - 1)[0].reshape(size, size)
    met -= np.diag(added_up(weights[None, :].astype(float), patterns, patterns.sum(axis=1) - 1)[0])
    middles = np.cumsum(marginals) - marginals / 2
    moves = np.cumsum(patterns, axis=1) - patterns / 2
    total = marginals.sum()
    slopes = [_slope(table, middles) * sample.n for table in (met / total, np.outer(marginals, marginals) / total**2)]
    observed, expected = ((moves * slope).sum(axis=1) for slope in slopes)
    return observed, expected


def _slope(table: Floats, middles: Floats) -> Floats:
    """Derivative of the mean squared difference of ranks, under a symmetric table of pairs, by each rank."""
    slope: Floats = 4 * (middles * table.sum(axis=1) - (table * middles[None, :]).sum(axis=1))
    return slope
