"""Many pairs of raters at once: the figures of a stack of tables as arrays, from standard errors alone."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from apps.metrics.agreement.alpha_values import Parts, chance_corrected
from apps.metrics.agreement.counting import Counts
from apps.metrics.agreement.pairs import (
    OF_MAXIMUM,
    kappa_influences,
    kappa_parts,
    maximum_parts,
    maximum_reasons,
    numeric_influences,
    pair_reasons,
    percent_agreement,
)
from apps.metrics.agreement.results import Coefficient, undefined
from apps.metrics.agreement.samples import Floats
from apps.metrics.agreement.uncertainty import Point, without_resamples

CELLS_AT_ONCE = 1_000_000

Figures = list[Coefficient]


def percents(tables: Counts, confidence: float) -> Figures:
    """Percent agreement of each table, with Wilson's interval."""
    return [percent_agreement(table, confidence=confidence) for table in tables]


def kappas(tables: Counts, weights: Floats, name: str, confidence: float) -> Figures:
    """Cohen's kappa of each table; tables by categories by categories."""
    reasons = pair_reasons(tables)
    own = tables[[not reason for reason in reasons]]
    influences = kappa_influences(own, weights)
    coefficients = iter(_from_errors(own, kappa_parts(weights), influences, name, confidence))
    return _in_places(tables, reasons, coefficients, name)


def shares_of_maximum(tables: Counts, confidence: float) -> Figures:
    """Cohen's kappa of each table over its maximum."""
    reasons = np.array(pair_reasons(tables), dtype=object)
    has_kappa = reasons == ""
    reasons[has_kappa] = maximum_reasons(tables[has_kappa])
    own = tables[reasons == ""]
    parts = maximum_parts(tables.shape[1])
    step = max(1, CELLS_AT_ONCE // tables.shape[1] ** 4)
    pieces = [numeric_influences(parts, own[start : start + step]) for start in range(0, len(own), step)]
    influences = np.concatenate(pieces) if pieces else np.empty((0, tables.shape[1] ** 2))
    coefficients = iter(_from_errors(own, parts, influences, OF_MAXIMUM, confidence, is_agreement=False))
    return _in_places(tables, reasons.tolist(), coefficients, OF_MAXIMUM)


def _from_errors(
    tables: Counts, parts: Parts, influences: Floats, name: str, confidence: float, *, is_agreement: bool = True
) -> Iterator[Coefficient]:
    """The coefficients of tables that have one. The error of each is the spread of its influences over the items."""
    counts = tables.reshape(-1, tables.shape[1] ** 2)
    sums = counts.sum(axis=1)
    errors = np.sqrt((counts * influences**2).sum(axis=1) / (sums * sums)).tolist()
    observed, expected = parts(counts.astype(float))
    values = chance_corrected(observed, expected).tolist()
    points = map(Point, observed.tolist(), expected.tolist(), values)
    for n, point, error in zip(sums.tolist(), points, errors, strict=True):
        yield without_resamples(name, n, point, error, is_agreement=is_agreement, confidence=confidence)


def _in_places(tables: Counts, reasons: list[str], coefficients: Iterator[Coefficient], name: str) -> Figures:
    """One figure for each table: the next computed one where it is defined, else its reason."""
    sums = tables.sum(axis=(1, 2)).tolist()
    return [
        undefined(name, reason, n) if reason else next(coefficients) for reason, n in zip(reasons, sums, strict=True)
    ]
