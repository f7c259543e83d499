"""Two raters, from their table of counts: rows are the first one's categories, columns the second's.

With the `cells` of its items intervals are over the clusters of these.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from apps.metrics.agreement.counting import Cells, Counts, Parts, table_counts
from apps.metrics.agreement.multi_rater import gwet_ac
from apps.metrics.agreement.results import CERTAIN, Coefficient, agreement_weights, undefined
from apps.metrics.agreement.uncertainty import (
    CONFIDENCE,
    DEFAULTS,
    Estimator,
    Floats,
    Settings,
    estimate,
    estimate_each,
    sample_of_table,
)
from apps.metrics.statistics.proportions import wilson

PERCENT = "percent agreement"
OF_MAXIMUM = "Cohen's κ / its maximum"
NO_ITEM = "They share no item."
ONE_ITEM = "They share only one item, too few to estimate agreement by chance."
ONE_CATEGORY = "Both used only one category; chance explains all of their agreement."


def percent_agreement(table: Counts, *, confidence: float = CONFIDENCE, cells: Cells | None = None) -> Coefficient:
    """Share of items that two raters labelled alike, with Wilson's interval where items have no clusters."""
    n = int(table.sum())
    if n == 0:
        return undefined(PERCENT, NO_ITEM)
    if cells:
        return estimate(sample_of_table(table, cells), share_alike(table), Settings(confidence=confidence))
    alike = int(np.trace(table))
    error = float(np.sqrt(alike * (n - alike) / n**3))
    return Coefficient(PERCENT, alike / n, n, wilson(alike, n, confidence), method="Wilson", standard_error=error)


def share_alike(table: Counts) -> Estimator:
    """Percent agreement of the table's sample."""
    n, size = int(table.sum()), len(table)
    influence = np.eye(size).reshape(-1) - float(np.trace(table)) / n
    return Estimator(PERCENT, alike_parts(size), influence, n, n, is_of_table=True)


def alike_parts(size: int) -> Parts:
    """Percent agreement from draws of the cells of a table."""

    def parts(draws: Floats) -> tuple[Floats, Floats]:
        return np.trace(_shares(draws, size), axis1=1, axis2=2), np.zeros(len(draws))

    return parts


def cohen_kappa(
    table: Counts,
    *,
    kind: str = "nominal",
    values: Sequence[float] | None = None,
    settings: Settings = DEFAULTS,
    cells: Cells | None = None,
) -> Coefficient:
    """Cohen's kappa of two raters (Cohen 1960; weighted: Cohen 1968), error by Fleiss, Cohen and Everitt 1969.

    `values` are the categories' values for linear and quadratic weights; by default their positions.
    """
    values = range(len(table)) if values is None else values
    return cohen_kappas(table, kinds=[kind], values=values, settings=settings, cells=cells)[0]


def cohen_kappas(
    table: Counts,
    *,
    kinds: Sequence[str],
    values: Sequence[float],
    settings: Settings = DEFAULTS,
    cells: Cells | None = None,
) -> list[Coefficient]:
    """Kappa with each kind of weights over one set of resampled items; the same figures as when computed singly."""
    coefficients = [kappa(table, agreement_weights(kind, values), kappa_name(kind)) for kind in kinds]
    return estimate_each(sample_of_table(table, cells), coefficients, settings)


def kappa_name(kind: str) -> str:
    return "Cohen's κ" if kind == "nominal" else f"Cohen's κ, {kind}"


def kappa_of_maximum(table: Counts, cells: Cells | None = None) -> Coefficient:
    """Cohen's kappa as a share of the highest that the two raters' totals allow (Cohen 1960, p. 42).

    Undefined where the totals allow no agreement beyond chance.
    """
    return estimate(sample_of_table(table, cells), share_of_maximum(table), DEFAULTS)


def share_of_maximum(table: Counts) -> Estimator | Coefficient:
    """Cohen's kappa over its maximum, of the table's sample."""
    name = OF_MAXIMUM
    n = int(table.sum())
    if reason := pair_reason(table) or maximum_reasons(table[None])[0]:
        return undefined(name, reason, n)
    parts = maximum_parts(len(table))
    influence = numeric_influences(parts, table[None])[0]
    return Estimator(name, parts, influence, n, n, is_of_table=True, is_agreement=False)


def maximum_reasons(tables: Counts) -> list[str]:
    """Why kappa over its maximum is undefined for each table, though kappa is defined; "" where it is not."""
    no_room = highest_kappas(tables / tables.sum(axis=(1, 2), keepdims=True)) < CERTAIN
    return ["The two raters' totals allow no agreement beyond chance." if none else "" for none in no_room.tolist()]


def maximum_parts(size: int) -> Parts:
    """Kappa over its maximum from draws of the cells of a table."""

    def parts(draws: Floats) -> tuple[Floats, Floats]:
        """Agreement beyond chance over its maximum, as observed and expected of a ratio."""
        shares = _shares(draws, size)
        rows, columns = shares.sum(axis=2), shares.sum(axis=1)
        expected = (rows * columns).sum(axis=1)
        most = np.minimum(rows, columns).sum(axis=1) - expected
        beyond = np.trace(shares, axis1=1, axis2=2) - expected
        possible = most > CERTAIN
        return np.where(possible, beyond / np.where(possible, most, 1.0), np.nan), np.zeros(len(draws))

    return parts


def pair_gwet_ac(table: Counts, cells: Cells | None = None) -> Coefficient:
    """Gwet's AC1 of two raters. Error over items by the Handbook's formula for tables, over n."""
    coefficient = gwet_ac(table_counts(table, cells), clusters=cells.clusters if cells else None)
    if coefficient.standard_error is None or cells:
        return coefficient
    error = coefficient.standard_error * float(np.sqrt((coefficient.n - 1) / coefficient.n))
    return replace(coefficient, standard_error=error)


def pair_reason(table: Counts) -> str | None:
    """Why kappa of this table is undefined, as a sentence; None where it is defined."""
    return pair_reasons(table[None])[0] or None


def pair_reasons(tables: Counts) -> list[str]:
    """The same for each table; "" where kappa is defined."""
    sums = tables.sum(axis=(1, 2))
    used = np.count_nonzero(tables.sum(axis=1) + tables.sum(axis=2), axis=1)
    reasons: list[str] = np.select([sums == 0, sums == 1, used == 1], [NO_ITEM, ONE_ITEM, ONE_CATEGORY], "").tolist()
    return reasons


def kappa(table: Counts, weights: Floats, name: str) -> Estimator | Coefficient:
    """Cohen's kappa of the table's sample."""
    n = int(table.sum())
    if reason := pair_reason(table):
        return undefined(name, reason, n)
    influence = kappa_influences(table[None], weights)[0]
    return Estimator(name, kappa_parts(weights), influence, n, n, is_of_table=True)


def kappa_parts(weights: Floats) -> Parts:
    """Observed agreement and agreement by chance from draws of the cells of a table."""

    def parts(draws: Floats) -> tuple[Floats, Floats]:
        shares = _shares(draws, len(weights))
        return (shares * weights).sum(axis=(1, 2)), _met(shares.sum(axis=2), shares.sum(axis=1), weights)

    return parts


def kappa_influences(tables: Counts, weights: Floats) -> Floats:
    """Linearised kappa of each cell less kappa, tables by cells.

    Formula 13 of Fleiss, Cohen and Everitt 1969 is its spread.
    """
    shares = tables / tables.sum(axis=(1, 2), keepdims=True)
    rows, columns = shares.sum(axis=2), shares.sum(axis=1)
    row_means, column_means = _products(weights, columns), _products(weights.T, rows)
    observed = (shares * weights).reshape(-1, weights.size).sum(axis=1)[:, None, None]
    expected = _met(rows, columns, weights)[:, None, None]
    kappa = (observed - expected) / (1 - expected)
    terms = weights - (row_means[:, :, None] + column_means[:, None, :]) * (1 - kappa)
    influences: Floats = ((terms - (kappa - expected * (1 - kappa))) / (1 - expected)).reshape(-1, weights.size)
    return influences


def numeric_influences(parts: Parts, tables: Counts, step: float = 1e-5) -> Floats:
    """The derivative of a ratio by the share of each cell, tables by cells, for formulas that a minimum makes
    piecewise.

    Needs memory for tables by cells squared.
    """
    shares = (tables / tables.sum(axis=(1, 2), keepdims=True)).reshape(-1, tables.shape[1] ** 2)
    cells = shares.shape[1]
    moved = (1 - step) * shares[:, None, :] + step * np.eye(cells)
    before, after = parts(shares)[0], parts(moved.reshape(-1, cells))[0].reshape(-1, cells)
    slopes: Floats = (after - before[:, None]) / step
    return slopes


def highest_kappas(shares: Floats) -> Floats:
    """The highest kappa that each table's totals allow, from its shares."""
    rows, columns = shares.sum(axis=2), shares.sum(axis=1)
    expected = (rows * columns).sum(axis=1)
    highest: Floats = (np.minimum(rows, columns).sum(axis=1) - expected) / (1 - expected)
    return highest


def _shares(draws: Floats, size: int) -> Floats:
    shares: Floats = (draws / draws.sum(axis=1, keepdims=True)).reshape(-1, size, size)
    return shares


def _met(rows: Floats, columns: Floats, weights: Floats) -> Floats:
    """Agreement by chance of each draw: the weights under both raters' shares."""
    met: Floats = (np.einsum("bi,ij->bj", rows, weights) * columns).sum(axis=1)
    return met


def _products(weights: Floats, shares: Floats) -> Floats:
    """The mean weight of each category under each row of shares."""
    products: Floats = (weights * shares[:, None, :]).sum(axis=2)
    return products
