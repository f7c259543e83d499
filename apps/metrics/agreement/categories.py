"""Agreement on each category separately: specific agreement, and kappa against the other categories."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from apps.metrics.agreement.alpha_values import added_up
from apps.metrics.agreement.counting import Counts
from apps.metrics.agreement.many import fleiss_kappa
from apps.metrics.agreement.results import Coefficient, undefined
from apps.metrics.agreement.samples import Floats, Sample, sample_of_counts
from apps.metrics.agreement.uncertainty import DEFAULTS, Estimator, Settings, estimate


@dataclass(frozen=True)
class CategoryAgreement:
    """One category: `used` ratings, agreement given that one rater chose it, and Fleiss' kappa against the others."""

    category: object
    used: int
    specific: Coefficient
    kappa: Coefficient


def by_category(counts: Counts, categories: Sequence[object], settings: Settings = DEFAULTS) -> list[CategoryAgreement]:
    """Each category in order, from items by categories.

    Specific agreement is the chance that another rater of an item chose a category when one did (Dice 1945; Fleiss,
    Statistical Methods for Rates and Proportions, 1981, section 13.1); kappa merges all other categories into one
    (Fleiss 1971, formula 14).
    """
    sample = sample_of_counts(counts, least=2)
    agreements = []
    for place, category in enumerate(categories):
        against = np.column_stack([counts[:, place], counts.sum(axis=1) - counts[:, place]])
        kappa = fleiss_kappa(against, seed=settings.seed, resamples=settings.resamples, confidence=settings.confidence)
        specific = estimate(sample, _specific(sample, place), settings)
        agreements.append(CategoryAgreement(category, int(counts[:, place].sum()), specific, replace(kappa, name="κ")))
    return agreements


def _specific(sample: Sample, place: int) -> Estimator | Coefficient:
    name = "specific agreement"
    chosen = sample.patterns[:, place]
    raters = sample.patterns.sum(axis=1)
    n = int(sample.total[chosen > 0].sum())
    if not n:
        return undefined(name, "Nobody chose it for an item that two people rated.")
    if n == 1:
        return undefined(name, "It was chosen for one item only that two people rated.", n)
    again = chosen * (chosen - 1)

    def parts(draws: Floats) -> tuple[Floats, Floats]:
        times = draws @ chosen.astype(float)
        met = added_up(draws, again[:, None], raters - 1)[:, 0]
        return np.where(times > 0, met / np.maximum(times, 1), np.nan), np.zeros(len(draws))

    whole = sample.total[None, :].astype(float)
    value = float(parts(whole)[0][0])
    influence = (again / np.maximum(raters - 1, 1) - value * chosen) * sample.n / float(sample.total @ chosen)
    return Estimator(name, parts, influence, n, sample.n)
