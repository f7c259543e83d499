"""`karat agree` as CSV and TSV, one figure a row."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from apps.cli.agree.figures import Figures
from apps.cli.tables import delimited
from apps.common.files.csvsafe import safe_cell
from apps.metrics.agreement.results import Coefficient

COLUMNS = [
    "scope",
    "first",
    "second",
    "figure",
    "value",
    "low",
    "high",
    "n",
    "standard_error",
    "method",
    "reason",
]
Row = list[str]


def as_csv(figures: Figures) -> str:
    """Rows of COLUMNS. The scope is all, stratum, pair, category, self or model, its names in `first` and `second`."""
    return delimited([COLUMNS, *_rows(figures)], ",")


def as_tsv(figures: Figures) -> str:
    """As CSV, separated by tabs."""
    return delimited([COLUMNS, *_rows(figures)], "\t")


def _rows(figures: Figures) -> Iterator[Row]:
    names = figures.labelling.annotators
    yield from _coefficients("all", "", "", figures.coefficients)
    for stratum in figures.strata or []:
        yield from _coefficients("stratum", stratum.field, stratum.stratum, stratum.coefficients)
    for pair in figures.pairs:
        yield from _coefficients("pair", names[pair.first], names[pair.second], pair.figures)
    for category in figures.categories:
        own = {"specific_agreement": category.specific, "kappa": category.kappa}
        yield from _coefficients("category", str(category.category), "", own)
    for again in figures.again:
        name = "" if again.annotator is None else names[again.annotator]
        yield from _coefficients("self", name, "", again.figures)
    yield from _model(figures)


def _model(figures: Figures) -> Iterator[Row]:
    if figures.model is None:
        return
    if figures.model.fit is None:
        yield ["model", "", "", "right", *[""] * 6, figures.model.reason]
        return
    method = "label model, bootstrap over items"
    shared = str(len(figures.labelling.items))
    for category, (share, ends) in zip(figures.labelling.categories, figures.model.prevalence, strict=True):
        low, high = ends or ("", "")
        yield ["model", safe_cell(category), "", "prevalence", str(share), str(low), str(high), shared, "", method, ""]
    for name, one in zip(figures.labelling.annotators, figures.model.annotators, strict=True):
        low, high = one.interval or ("", "")
        yield ["model", safe_cell(name), "", "right", str(one.right), str(low), str(high), str(one.n), "", method, ""]


def _coefficients(scope: str, first: str, second: str, coefficients: Mapping[str, Coefficient]) -> Iterator[Row]:
    for key, coefficient in coefficients.items():
        low, high = coefficient.interval or ("", "")
        value = "" if coefficient.value is None else str(coefficient.value)
        error = "" if coefficient.standard_error is None else str(coefficient.standard_error)
        head = [scope, safe_cell(first), safe_cell(second), key]
        yield [*head, value, str(low), str(high), str(coefficient.n), error, coefficient.method, coefficient.reason]
