"""Every coefficient that a matrix of ratings has, under the names that `karat agree` prints."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from apps.agreement.coefficients.alpha import alpha
from apps.agreement.coefficients.conger import conger
from apps.agreement.coefficients.counting import Counts, category_counts, pair_table
from apps.agreement.coefficients.many import Found, fleiss, gwet, pairwise, uniform_chance
from apps.agreement.coefficients.pairs import cohen_kappas, kappa_name, kappa_of_maximum, percent_agreement
from apps.agreement.coefficients.results import Coefficient, undefined
from apps.agreement.coefficients.samples import Sample, sample_of_codes, sample_of_counts
from apps.agreement.coefficients.uncertainty import DEFAULTS, Estimator, Settings, estimate, estimates
from apps.agreement.coefficients.weights import agreement_weights
from apps.common.alpha import LEVELS

COEFFICIENTS = (
    "percent_agreement",
    "cohen_kappa",
    "weighted_kappa_linear",
    "weighted_kappa_quadratic",
    "fleiss_kappa",
    "conger_kappa",
    *(f"krippendorff_alpha_{level}" for level in LEVELS),
    "gwet_ac1",
    "gwet_ac2_quadratic",
)
FURTHER = ("gwet_ac2_linear", "brennan_prediger", "cohen_kappa_of_maximum")
KAPPAS = {"cohen_kappa": "nominal", "weighted_kappa_linear": "linear", "weighted_kappa_quadratic": "quadratic"}

NO_ORDER = "The labels are words without an order."
NO_NUMBERS = "The labels are no numbers."


@dataclass(frozen=True)
class Scale:
    """What the categories are: how many, their values, and whether those are an order only or numbers too.

    `values` is None for names without an order, and their places where they are words in an order.
    """

    size: int
    values: tuple[float, ...] | None = None
    is_numeric: bool = False

    def reason(self, level: str) -> str | None:
        """Why a coefficient that takes labels at this level has no value here, in words; None where it can."""
        if level == "nominal":
            return None
        if self.values is None:
            return NO_ORDER
        return None if level == "ordinal" or self.is_numeric else NO_NUMBERS


@dataclass(frozen=True)
class PairFigures:
    """Two raters by their columns, the number of items that both rated, and what can be said of those."""

    first: int
    second: int
    n: int
    figures: dict[str, Coefficient]


def all_coefficients(
    rated: Counts, scale: Scale, settings: Settings = DEFAULTS, *, strata: Counts | None = None
) -> dict[str, Coefficient]:
    """Each of COEFFICIENTS and FURTHER from items by raters, in that order.

    With `strata`, the number of each item's stratum from 0, items are resampled within theirs; figures that rest on
    the table of two raters do not know strata.
    """
    counts = category_counts(rated, scale.size)
    found: dict[str, Coefficient] = {}
    everything = sample_of_counts(counts, strata=strata)
    shared = sample_of_counts(counts, least=2, strata=strata)
    of_all, of_shared = _from_all(everything, scale), _from_shared(shared, scale)
    if shared.n == everything.n:
        found |= _estimated(everything, of_all | of_shared, settings)
    else:
        found |= _estimated(everything, of_all, settings) | _estimated(shared, of_shared, settings)
    by_rater = sample_of_codes(rated, strata=strata)
    own = conger(by_rater, agreement_weights("nominal", range(scale.size)), "nominal")
    found["conger_kappa"] = estimate(by_rater, own, settings)
    found |= _of_two(rated, scale, settings)
    return {key: found[key] for key in (*COEFFICIENTS, *FURTHER)}


def every_pair(rated: Counts, scale: Scale, settings: Settings = DEFAULTS) -> list[PairFigures]:
    """Every two raters who share an item, most items first, then by column. Equal tables are worked out once."""
    known: dict[bytes, dict[str, Coefficient]] = {}
    found = []
    for first, second in _meeting(rated):
        table = pair_table(rated[:, first], rated[:, second], scale.size)
        key = table.tobytes()
        if key not in known:
            known[key] = table_figures(table, scale, settings)
        found.append(PairFigures(first, second, int(table.sum()), known[key]))
    return sorted(found, key=lambda pair: (-pair.n, pair.first, pair.second))


def _meeting(rated: Counts) -> Iterator[tuple[int, int]]:
    """The pairs of columns that have an item in common."""
    present = (rated >= 0).astype(float)
    together = present.T @ present
    return ((one, other) for one, other in combinations(range(rated.shape[1]), 2) if together[one, other])


def table_figures(table: Counts, scale: Scale, settings: Settings = DEFAULTS) -> dict[str, Coefficient]:
    """Percent agreement, the three kappas, and kappa against its maximum, from the table of two raters."""
    figures = {"percent_agreement": percent_agreement(table, confidence=settings.confidence)}
    n = int(table.sum())
    if reason := scale.reason("ordinal"):
        figures["cohen_kappa"] = cohen_kappas(table, kinds=["nominal"], settings=settings)[0]
        figures |= {key: undefined(kappa_name(kind), reason, n) for key, kind in list(KAPPAS.items())[1:]}
    else:
        kappas = cohen_kappas(table, values=scale.values, kinds=list(KAPPAS.values()), settings=settings)
        figures |= dict(zip(KAPPAS, kappas, strict=True))
    figures["cohen_kappa_of_maximum"] = kappa_of_maximum(
        table, seed=settings.seed, resamples=settings.resamples, confidence=settings.confidence
    )
    return figures


def _from_all(sample: Sample, scale: Scale) -> dict[str, Found]:
    nominal = agreement_weights("nominal", range(scale.size))
    found: dict[str, Found] = {
        "fleiss_kappa": fleiss(sample, nominal, "nominal"),
        "gwet_ac1": gwet(sample, nominal, "nominal"),
        "brennan_prediger": uniform_chance(sample, nominal, "nominal"),
    }
    for kind in ("linear", "quadratic"):
        reason = scale.reason("ordinal")
        name = f"Gwet's AC2, {kind}"
        weights = agreement_weights(kind, scale.values or range(scale.size))
        found[f"gwet_ac2_{kind}"] = undefined(name, reason, sample.n) if reason else gwet(sample, weights, kind)
    return found


def _from_shared(sample: Sample, scale: Scale) -> dict[str, Found]:
    found: dict[str, Found] = {"percent_agreement": pairwise(sample)}
    for level in LEVELS:
        reason = scale.reason(level)
        name = f"Krippendorff's α, {level}"
        values = scale.values or tuple(float(place) for place in range(scale.size))
        found[f"krippendorff_alpha_{level}"] = (
            undefined(name, reason, sample.n) if reason else alpha(sample, level, values)
        )
    return found


def _estimated(sample: Sample, found: dict[str, Found], settings: Settings) -> dict[str, Coefficient]:
    """All of one sample, from one set of resampled items."""
    defined = {key: one for key, one in found.items() if isinstance(one, Estimator)}
    values = dict(zip(defined, estimates(sample, list(defined.values()), settings), strict=True)) if defined else {}
    return {key: one if isinstance(one, Coefficient) else values[key] for key, one in found.items()}


def _of_two(rated: Counts, scale: Scale, settings: Settings) -> dict[str, Coefficient]:
    """The figures of Cohen's family, which two raters have; for them percent agreement has Wilson's interval."""
    raters = np.flatnonzero((rated >= 0).any(axis=0)).tolist()
    if len(raters) == 2:
        first, second = raters
        return table_figures(pair_table(rated[:, first], rated[:, second], scale.size), scale, settings)
    reason = _not_two(len(raters))
    names = {key: kappa_name(kind) for key, kind in KAPPAS.items()}
    names["cohen_kappa_of_maximum"] = "Cohen's κ / its maximum"
    return {key: undefined(name, reason) for key, name in names.items()}


def _not_two(raters: int) -> str:
    if raters < 2:
        return "It takes two annotators." if raters else "There is no label."
    return f"Cohen's κ is for two annotators and here are {raters}: see each pair, or Conger's κ for all together."
