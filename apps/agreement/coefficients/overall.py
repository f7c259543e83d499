"""Every coefficient that a matrix of ratings has, under the names that `karat agree` prints."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from apps.agreement.coefficients.alpha import alpha
from apps.agreement.coefficients.conger import conger
from apps.agreement.coefficients.counting import MISSING, Counts, category_counts, pair_table
from apps.agreement.coefficients.many import Found, fleiss, gwet, pairwise, uniform_chance
from apps.agreement.coefficients.pairs import OF_MAXIMUM, kappa, kappa_name, percent_agreement, share_of_maximum
from apps.agreement.coefficients.results import Coefficient, undefined
from apps.agreement.coefficients.samples import Sample, sample_of_codes, sample_of_counts, sample_of_table
from apps.agreement.coefficients.uncertainty import DEFAULTS, Settings, estimate, estimate_each
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

MOST_RESAMPLED = 500

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
    """Every two raters who share an item, most items first, then by column. Equal tables are worked out once.

    Of more than MOST_RESAMPLED pairs nobody reads each one: their intervals come from the standard error.
    """
    tables = list(_tables(rated, scale.size))
    own = settings if len(tables) <= MOST_RESAMPLED else replace(settings, resamples=0)
    known: dict[bytes, dict[str, Coefficient]] = {}
    found = []
    for first, second, table in tables:
        key = table.tobytes()
        if key not in known:
            known[key] = table_figures(table, scale, own)
        found.append(PairFigures(first, second, int(table.sum()), known[key]))
    return sorted(found, key=lambda pair: (-pair.n, pair.first, pair.second))


def _tables(rated: Counts, size: int) -> Iterator[tuple[int, int, Counts]]:
    """The columns of every two raters who share an item, and their table; one rater with all later ones at a time."""
    raters = rated.shape[1]
    for first in range(raters - 1):
        own = rated[rated[:, first] != MISSING, first:]
        items, others = np.nonzero(own[:, 1:] != MISSING)
        cells = (others * size + own[items, 0]) * size + own[items, others + 1]
        tables = np.bincount(cells, minlength=(raters - first - 1) * size * size).reshape(-1, size, size)
        for other in np.flatnonzero(tables.any(axis=(1, 2))).tolist():
            yield first, first + 1 + other, tables[other]


def table_figures(table: Counts, scale: Scale, settings: Settings = DEFAULTS) -> dict[str, Coefficient]:
    """Percent agreement, the three kappas, and kappa against its maximum, from the table of two raters."""
    n = int(table.sum())
    values = scale.values or range(scale.size)
    found: dict[str, Found] = {}
    for key, kind in KAPPAS.items():
        reason = scale.reason("nominal" if kind == "nominal" else "ordinal")
        name = kappa_name(kind)
        found[key] = undefined(name, reason, n) if reason else kappa(table, agreement_weights(kind, values), name)
    found["cohen_kappa_of_maximum"] = share_of_maximum(table)
    percent = {"percent_agreement": percent_agreement(table, confidence=settings.confidence)}
    return percent | _estimated(sample_of_table(table), found, settings)


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
    return dict(zip(found, estimate_each(sample, list(found.values()), settings), strict=True))


def _of_two(rated: Counts, scale: Scale, settings: Settings) -> dict[str, Coefficient]:
    """The figures of Cohen's family, which two raters have; for them percent agreement has Wilson's interval."""
    raters = np.flatnonzero((rated >= 0).any(axis=0)).tolist()
    if len(raters) == 2:
        first, second = raters
        return table_figures(pair_table(rated[:, first], rated[:, second], scale.size), scale, settings)
    reason = _not_two(len(raters))
    names = {key: kappa_name(kind) for key, kind in KAPPAS.items()}
    names["cohen_kappa_of_maximum"] = OF_MAXIMUM
    return {key: undefined(name, reason) for key, name in names.items()}


def _not_two(raters: int) -> str:
    if raters < 2:
        return "It takes two annotators." if raters else "There is no label."
    return f"Cohen's κ is for two annotators and here are {raters}: see each pair, or Conger's κ for all together."
