"""Two raters, from their table of counts: rows are the first one's categories, columns the second's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from apps.agreement.coefficients.counting import Counts, table_counts
from apps.agreement.coefficients.many import brennan_prediger, fleiss_kappa, gwet_ac
from apps.agreement.coefficients.results import CERTAIN, Coefficient, undefined
from apps.agreement.coefficients.samples import Floats, sample_of_table
from apps.agreement.coefficients.uncertainty import (
    CONFIDENCE,
    DEFAULTS,
    RESAMPLES,
    SEED,
    Estimator,
    Settings,
    estimate,
    estimate_each,
)
from apps.agreement.coefficients.weights import agreement_weights
from apps.common.alpha import Parts
from apps.common.intervals import wilson

OF_MAXIMUM = "Cohen's κ / its maximum"


def percent_agreement(table: Counts, *, confidence: float = CONFIDENCE) -> Coefficient:
    """Share of items that two raters labelled alike, with Wilson's interval."""
    n = int(table.sum())
    if n == 0:
        return undefined("percent agreement", "They share no item.")
    alike = int(np.trace(table))
    error = float(np.sqrt(alike * (n - alike) / n**3))
    return Coefficient(
        "percent agreement", alike / n, n, wilson(alike, n, confidence), method="Wilson", standard_error=error
    )


def cohen_kappa(
    table: Counts,
    *,
    kind: str = "nominal",
    values: Sequence[float] | None = None,
    weights: Floats | None = None,
    seed: int = SEED,
    resamples: int = RESAMPLES,
    confidence: float = CONFIDENCE,
) -> Coefficient:
    """Cohen's kappa of two raters (Cohen 1960; weighted: Cohen 1968), error by Fleiss, Cohen and Everitt 1969.

    `values` are the categories' values for linear and quadratic weights; their positions when not given.
    `weights`, categories by categories with 1 on the diagonal, stand in for those of the kind.
    """
    own = _weights(table, kind, values) if weights is None else weights
    found = kappa(table, own, kappa_name(kind) if weights is None else "Cohen's κ, own weights")
    return estimate(sample_of_table(table), found, Settings(seed, resamples, confidence))


def cohen_kappas(
    table: Counts,
    *,
    values: Sequence[float] | None = None,
    kinds: Sequence[str] = ("nominal", "linear", "quadratic"),
    settings: Settings = DEFAULTS,
) -> list[Coefficient]:
    """Kappa with each kind of weights over one set of resampled items; the same figures as one by one."""
    found = [kappa(table, _weights(table, kind, values), kappa_name(kind)) for kind in kinds]
    return estimate_each(sample_of_table(table), found, settings)


def kappa_name(kind: str) -> str:
    return "Cohen's κ" if kind == "nominal" else f"Cohen's κ, {kind}"


def kappa_of_maximum(
    table: Counts, *, seed: int = SEED, resamples: int = RESAMPLES, confidence: float = CONFIDENCE
) -> Coefficient:
    """Cohen's kappa as a share of the highest that the two raters' totals allow (Cohen 1960, p. 42).

    Undefined where the totals allow no agreement beyond chance.
    """
    return estimate(sample_of_table(table), share_of_maximum(table), Settings(seed, resamples, confidence))


def share_of_maximum(table: Counts) -> Estimator | Coefficient:
    """Cohen's kappa over its maximum, of the table's sample."""
    name = OF_MAXIMUM
    n = int(table.sum())
    if reason := pair_reason(table):
        return undefined(name, reason, n)
    if _highest_kappa(table / n) < CERTAIN:
        return undefined(name, "The two raters' totals allow no agreement beyond chance.", n)
    size = len(table)

    def parts(draws: Floats) -> tuple[Floats, Floats]:
        """Agreement beyond chance over the most there could be, as observed and expected of a ratio."""
        shares = _shares(draws, size)
        rows, columns = shares.sum(axis=2), shares.sum(axis=1)
        expected = (rows * columns).sum(axis=1)
        most = np.minimum(rows, columns).sum(axis=1) - expected
        beyond = np.trace(shares, axis1=1, axis2=2) - expected
        possible = most > CERTAIN
        return np.where(possible, beyond / np.where(possible, most, 1.0), np.nan), np.zeros(len(draws))

    return Estimator(name, parts, _numeric_influence(parts, table), n, n, is_of_table=True, is_agreement=False)


def highest_kappa(table: Counts) -> float | None:
    """The highest Cohen's kappa that the two raters' totals allow; None where kappa is undefined."""
    return None if pair_reason(table) else _highest_kappa(table / table.sum())


def kappa_null_error(table: Counts, *, kind: str = "nominal", values: Sequence[float] | None = None) -> float | None:
    """Standard error of kappa if there were no agreement beyond chance, for testing that: Fleiss, Cohen, Everitt 1969.

    None where kappa is undefined.
    """
    if pair_reason(table):
        return None
    weights = _weights(table, kind, values)
    shares = table / table.sum()
    rows, columns = shares.sum(axis=1), shares.sum(axis=0)
    expected = _met(rows[None, :], columns[None, :], weights)[0]
    spread = weights - (_product(weights, columns)[:, None] + _product(weights.T, rows)[None, :])
    variance = (rows[:, None] * columns[None, :] * spread**2).sum() - expected**2
    return float(np.sqrt(max(variance, 0.0) / table.sum()) / (1 - expected))


def scott_pi(table: Counts, **options: float) -> Coefficient:
    """Scott's pi (1955): chance by the totals of both raters together. Error as the Handbook's for tables, over n."""
    return _as_of_table(fleiss_kappa(table_counts(table), **options), "Scott's π")  # type: ignore[arg-type]


def pair_gwet_ac(table: Counts, *, kind: str = "nominal", values: Sequence[float] | None = None) -> Coefficient:
    """Gwet's AC1, AC2 with weights, of two raters. Error as the Handbook's for tables, over n."""
    return _as_of_table(gwet_ac(table_counts(table), kind=kind, values=values))


def pair_brennan_prediger(table: Counts) -> Coefficient:
    """Brennan and Prediger's coefficient of two raters. Error as the Handbook's for tables, over n."""
    return _as_of_table(brennan_prediger(table_counts(table)))


def pair_reason(table: Counts) -> str | None:
    """Why kappa of this table has no value, in words; None where it has one."""
    n = int(table.sum())
    if n == 0:
        return "They share no item."
    if n == 1:
        return "They share one item only; agreement by chance cannot be told apart from it."
    used = np.flatnonzero(table.sum(axis=0) + table.sum(axis=1))
    if len(used) == 1:
        return "Both used one category only; chance explains all of their agreement."
    return None


def _as_of_table(found: Coefficient, name: str = "") -> Coefficient:
    """The same with n where the formula for any number of raters has n - 1 (Gwet 2014, chapters 2 and 5)."""
    if found.standard_error is None:
        return replace(found, name=name or found.name)
    error = found.standard_error * float(np.sqrt((found.n - 1) / found.n))
    return replace(found, name=name or found.name, standard_error=error)


def _weights(table: Counts, kind: str, values: Sequence[float] | None) -> Floats:
    return agreement_weights(kind, range(len(table)) if values is None else values)


def kappa(table: Counts, weights: Floats, name: str) -> Estimator | Coefficient:
    """Cohen's kappa of the table's sample."""
    n = int(table.sum())
    if reason := pair_reason(table):
        return undefined(name, reason, n)
    size = len(table)

    def parts(draws: Floats) -> tuple[Floats, Floats]:
        shares = _shares(draws, size)
        return (shares * weights).sum(axis=(1, 2)), _met(shares.sum(axis=2), shares.sum(axis=1), weights)

    return Estimator(name, parts, _kappa_influence(table / n, weights), n, n, is_of_table=True)


def _kappa_influence(shares: Floats, weights: Floats) -> Floats:
    """Linearised kappa of each cell less kappa; formula 13 of Fleiss, Cohen and Everitt 1969 is its spread."""
    rows, columns = shares.sum(axis=1), shares.sum(axis=0)
    row_means, column_means = _product(weights, columns), _product(weights.T, rows)
    observed = float((shares * weights).sum())
    expected = float(_met(rows[None, :], columns[None, :], weights)[0])
    kappa = (observed - expected) / (1 - expected)
    terms = weights - (row_means[:, None] + column_means[None, :]) * (1 - kappa)
    return ((terms - (kappa - expected * (1 - kappa))) / (1 - expected)).reshape(-1)


def _numeric_influence(parts: Parts, table: Counts, step: float = 1e-5) -> Floats:
    """The derivative of a ratio by the share of each cell, where its minimum makes a formula piecewise."""
    shares = (table / table.sum()).reshape(-1)
    moved = (1 - step) * shares + step * np.eye(table.size)
    before, after = parts(shares[None, :])[0][0], parts(moved)[0]
    slope: Floats = (after - before) / step
    return slope


def _highest_kappa(shares: Floats) -> float:
    rows, columns = shares.sum(axis=1), shares.sum(axis=0)
    expected = float((rows * columns).sum())
    return float((np.minimum(rows, columns).sum() - expected) / (1 - expected))


def _shares(draws: Floats, size: int) -> Floats:
    shares: Floats = (draws / draws.sum(axis=1, keepdims=True)).reshape(-1, size, size)
    return shares


def _met(rows: Floats, columns: Floats, weights: Floats) -> Floats:
    """Agreement by chance of each draw: the weights under both raters' shares."""
    met: Floats = (np.einsum("bi,ij->bj", rows, weights) * columns).sum(axis=1)
    return met


def _product(weights: Floats, shares: Floats) -> Floats:
    product: Floats = (weights * shares[None, :]).sum(axis=1)
    return product
