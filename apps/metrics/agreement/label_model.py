"""A label model as a diagnosis of annotators: who mistakes which category for which. It is never gold. No database.

Dawid and Skene, Maximum Likelihood Estimation of Observer Error-Rates Using the EM Algorithm, Applied Statistics 28
(1979) 20-28. Each item has one unknown true category; each annotator has a matrix of probabilities of each label for
each true category. Estimates maximise the likelihood of the labels, so annotators who share a mistake count as right:
read it together with the coefficients, and leave decisions to people.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from apps.metrics.statistics.bootstrap import DEFAULT_SEED, interval_of_defined

Counts = NDArray[np.int64]
Floats = NDArray[np.float64]
Interval = tuple[float, float]

TOLERANCE = 1e-9
MOST_STEPS = 1_000
RESAMPLES = 100
RESAMPLED_STEPS = 30


@dataclass(frozen=True)
class Labels:
    """One entry for each label: item, annotator and category, each a number from 0.

    An annotator may label an item several times; each label counts.
    """

    item: Counts
    annotator: Counts
    category: Counts
    items: int
    annotators: int
    categories: int


@dataclass(frozen=True)
class Fit:
    """The model at its last step.

    `prevalence` is the share of each category among the items, `confusion` annotators by true categories by labels,
    `posterior` items by categories. Rows of `confusion` for categories that an annotator never met are 0.
    """

    prevalence: Floats
    confusion: Floats
    posterior: Floats
    log_likelihood: float
    steps: int
    is_converged: bool


@dataclass(frozen=True)
class AnnotatorDiagnosis:
    """One annotator: `n` labels, the share of those right by the model with its interval, and the confusion.

    `met` is the expected number of their labels on items of each true category: the basis of a row of `confusion`.
    """

    n: int
    right: float
    interval: Interval | None
    confusion: Floats
    met: Floats


@dataclass(frozen=True)
class Diagnosis:
    """The fit, each annotator, and the intervals of prevalence; or the `reason` why there is no fit."""

    reason: str = ""
    fit: Fit | None = None
    annotators: tuple[AnnotatorDiagnosis, ...] = ()
    prevalence: tuple[tuple[float, Interval | None], ...] = ()


def diagnose(
    labels: Labels, *, seed: int = DEFAULT_SEED, resamples: int = RESAMPLES, confidence: float = 0.95
) -> Diagnosis:
    """Fit the model, with percentile bootstrap intervals over items; each resampled fit starts from the first one."""
    if reason := _undefined_reason(labels):
        return Diagnosis(reason=reason)
    fitted = fit(labels)
    right, shares = _right(labels, fitted.posterior), fitted.prevalence
    drawn = _resampled(labels, fitted, seed, resamples)
    right_ends, share_ends = ([interval_of_defined(column, confidence) for column in values.T] for values in drawn)
    n = np.bincount(labels.annotator, minlength=labels.annotators)
    met = _label_totals(labels, fitted.posterior).sum(axis=2)
    people = tuple(
        AnnotatorDiagnosis(int(n[who]), float(right[who]), right_ends[who], fitted.confusion[who], met[who])
        for who in range(labels.annotators)
    )
    prevalence = tuple((float(share), ends) for share, ends in zip(shares, share_ends, strict=True))
    return Diagnosis(fit=fitted, annotators=people, prevalence=prevalence)


def fit(
    labels: Labels, *, weights: Floats | None = None, start: Floats | None = None, most_steps: int = MOST_STEPS
) -> Fit:
    """Maximum likelihood by expectation and maximisation, from the shares of each item's labels or from `start`.

    `weights` is how often each item counts. Converged when a step raises the log likelihood by less than `TOLERANCE`
    for each label; ends after `most_steps` otherwise. Items without a label have the prevalence.
    """
    counts = np.ones(labels.items) if weights is None else weights
    posterior = _label_shares(labels) if start is None else start
    before, steps = -np.inf, 0
    while True:
        prevalence, confusion = _maximised(labels, posterior, counts)
        posterior, likelihood = _expected(labels, prevalence, confusion, counts)
        steps += 1
        is_converged = bool(likelihood - before < TOLERANCE * len(labels.item))
        if is_converged or steps >= most_steps:
            return Fit(prevalence, confusion, posterior, likelihood, steps, is_converged)
        before = likelihood


def _maximised(labels: Labels, posterior: Floats, counts: Floats) -> tuple[Floats, Floats]:
    """Prevalence and confusion with the highest likelihood under this posterior of the items."""
    weighted = posterior * counts[:, None]
    prevalence = weighted.sum(axis=0) / counts.sum()
    totals = _label_totals(labels, weighted)
    met = totals.sum(axis=2, keepdims=True)
    return prevalence, totals / np.where(met > 0, met, 1.0)


def _expected(labels: Labels, prevalence: Floats, confusion: Floats, counts: Floats) -> tuple[Floats, float]:
    """The posterior of the items under these probabilities, and the log likelihood of all labels."""
    with np.errstate(divide="ignore"):
        likely, chances = np.log(prevalence), np.log(confusion)
    scores = np.empty((labels.items, labels.categories))
    for true in range(labels.categories):
        totals = chances[labels.annotator, true, labels.category]
        scores[:, true] = likely[true] + np.bincount(labels.item, weights=totals, minlength=labels.items)
    best = scores.max(axis=1, keepdims=True)
    # An item drawn zero times may be impossible now; it keeps the prevalence and does not count.
    shifted = np.where(np.isfinite(best), np.exp(scores - np.where(np.isfinite(best), best, 0.0)), prevalence)
    total = shifted.sum(axis=1, keepdims=True)
    logs = np.where(np.isfinite(best), best, 0.0) + np.log(total)
    return shifted / total, float((counts * logs[:, 0]).sum())


def _label_totals(labels: Labels, posterior: Floats) -> Floats:
    """Annotators by true categories by labels: the expected number of labels."""
    size = labels.categories
    totals = np.empty((labels.annotators, size, size))
    places = labels.annotator * size + labels.category
    for true in range(size):
        sums = np.bincount(places, weights=posterior[labels.item, true], minlength=labels.annotators * size)
        totals[:, true] = sums.reshape(labels.annotators, size)
    return totals


def _label_shares(labels: Labels) -> Floats:
    """Items by categories: the share of their labels; equal shares where an item has none."""
    size = labels.categories
    counts = np.bincount(labels.item * size + labels.category, minlength=labels.items * size)
    counts = counts.reshape(labels.items, size)
    total = counts.sum(axis=1, keepdims=True)
    shares: Floats = np.where(total > 0, counts / np.maximum(total, 1), 1 / size)
    return shares


def _right(labels: Labels, posterior: Floats, counts: Floats | None = None) -> Floats:
    """For each annotator the expected share of their labels that are right; nan without a label."""
    weights = np.ones(len(labels.item)) if counts is None else counts[labels.item]
    hits = posterior[labels.item, labels.category] * weights
    correct = np.bincount(labels.annotator, weights=hits, minlength=labels.annotators)
    total = np.bincount(labels.annotator, weights=weights, minlength=labels.annotators)
    return np.where(total > 0, correct / np.where(total > 0, total, 1.0), np.nan)


def _resampled(labels: Labels, fitted: Fit, seed: int, resamples: int) -> tuple[Floats, Floats]:
    """Shares of right labels and prevalence over resampled items: draws by annotators, draws by categories."""
    chance = np.random.Generator(np.random.PCG64(seed))
    even = np.full(labels.items, 1 / labels.items)
    right, prevalence = np.empty((resamples, labels.annotators)), np.empty((resamples, labels.categories))
    for draw in range(resamples):
        counts = chance.multinomial(labels.items, even).astype(float)
        again = fit(labels, weights=counts, start=fitted.posterior, most_steps=RESAMPLED_STEPS)
        right[draw], prevalence[draw] = _right(labels, again.posterior, counts), again.prevalence
    return right, prevalence


def _undefined_reason(labels: Labels) -> str:
    if len(np.unique(labels.annotator)) < 2:
        return "A label model needs two annotators or more."
    if len(np.unique(labels.category)) < 2:
        return "Only one category was used; there is nothing to mistake it for."
    met = np.unique(np.column_stack([labels.item, labels.annotator]), axis=0)
    if (np.bincount(met[:, 0]) >= 2).sum() < 2:
        return "A label model needs two items or more that two annotators labelled."
    return ""
