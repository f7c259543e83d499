"""The figures of `karat agree` as a table for people, and as JSON, CSV and TSV for machines."""

from __future__ import annotations

import json
import textwrap
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

import numpy as np

from apps.cli.agree.figures import Figures, SelfAgreement, StratumFigures
from apps.cli.arguments import aligned, delimited
from apps.common.files.csvsafe import safe_cell
from apps.common.text.wording import number
from apps.metrics.agreement.label_model import Diagnosis
from apps.metrics.agreement.overall import COEFFICIENTS, FURTHER, MOST_RESAMPLED
from apps.metrics.agreement.results import Coefficient, standard_interval
from apps.metrics.estimate import Estimate
from apps.metrics.files.labels.labelling import Labelling


def as_json(figures: Figures) -> str:
    return json.dumps(as_object(figures), ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def as_object(figures: Figures) -> dict[str, Any]:
    """The figures as plain values, in the documented order."""
    labelling, settings = figures.labelling, figures.settings
    document: dict[str, Any] = {
        "n_items": len(labelling.items),
        "n_annotators": len(labelling.annotators),
        "n_labels": labelling.labels,
        "n_items_shared": labelling.shared,
        "n_labels_again": len(labelling.again),
        "cluster": labelling.cluster_name or None,
        "n_clusters": labelling.cluster_count,
        "level": labelling.level,
        "categories": list(labelling.categories),
        "headline": figures.headline,
        **_everybody(figures.coefficients, settings.confidence),
        "pairs": [
            {
                "annotators": [labelling.annotators[pair.first], labelling.annotators[pair.second]],
                "n": pair.n,
                **_coefficients_as_json(pair.figures, settings.confidence),
            }
            for pair in figures.pairs
        ],
        "by_category": [
            {
                "category": category.category,
                "n_labels": category.used,
                "specific_agreement": coefficient_as_object(category.specific, settings.confidence),
                "kappa": coefficient_as_object(category.kappa, settings.confidence),
            }
            for category in figures.categories
        ],
        "self_agreement": [_self_as_object(one, labelling, settings.confidence) for one in figures.again],
    }
    if figures.strata is not None:
        document["by_stratum"] = [_stratum_as_object(one, settings.confidence) for one in figures.strata]
    if figures.model is not None:
        document["label_model"] = _model_as_object(figures.model, labelling)
    return document | {"confidence": settings.confidence, "seed": settings.seed, "resamples": settings.resamples}


def coefficient_as_object(coefficient: Coefficient, confidence: float) -> dict[str, Any]:
    """The figure, its standard error, and the interval computed from that error."""
    analytic = standard_interval(coefficient, confidence)
    return {
        **coefficient.estimate.as_json,
        "standard_error": coefficient.standard_error,
        "analytic": list(analytic) if analytic else None,
        "clusters": coefficient.clusters,
    }


def _coefficients_as_json(coefficients: Mapping[str, Coefficient], confidence: float) -> dict[str, Any]:
    return {key: coefficient_as_object(one, confidence) for key, one in coefficients.items()}


def _everybody(coefficients: Mapping[str, Coefficient], confidence: float) -> dict[str, Any]:
    """The coefficients over all annotators: the usual ones, and further ones."""
    return {
        "coefficients": _coefficients_as_json({key: coefficients[key] for key in COEFFICIENTS}, confidence),
        "further": _coefficients_as_json({key: coefficients[key] for key in FURTHER}, confidence),
    }


def _stratum_as_object(stratum: StratumFigures, confidence: float) -> dict[str, Any]:
    return {
        "field": stratum.field,
        "stratum": stratum.stratum,
        "n_items": stratum.items,
        "n_annotators": stratum.annotators,
        "n_labels": stratum.labels,
        "n_items_shared": stratum.shared,
        **_everybody(stratum.coefficients, confidence),
    }


def _self_as_object(row: SelfAgreement, labelling: Labelling, confidence: float) -> dict[str, Any]:
    name = None if row.annotator is None else labelling.annotators[row.annotator]
    return {"annotator": name, "n": row.n, **_coefficients_as_json(row.figures, confidence)}


def _model_as_object(model: Diagnosis, labelling: Labelling) -> dict[str, Any]:
    if model.fit is None:
        return {"value": None, "reason": model.reason}
    return {
        "steps": model.fit.steps,
        "is_converged": model.fit.is_converged,
        "log_likelihood": model.fit.log_likelihood,
        "prevalence": [
            {"category": category, **Estimate.of(share, ends, len(model.fit.posterior), "bootstrap").as_json}
            for category, (share, ends) in zip(labelling.categories, model.prevalence, strict=True)
        ],
        "annotators": [
            {
                "annotator": name,
                "n": annotator.n,
                "right": Estimate.of(annotator.right, annotator.interval, annotator.n, "bootstrap").as_json,
                "confusion": np.round(annotator.confusion, 12).tolist(),
                "met": np.round(annotator.met, 12).tolist(),
            }
            for name, annotator in zip(labelling.annotators, model.annotators, strict=True)
        ],
    }


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


NOTE_WIDTH = 100
MOST_ROWS = 30
PAIR_FIGURES = ("percent_agreement", "cohen_kappa", "weighted_kappa_quadratic")


def as_table(figures: Figures) -> str:
    parts = [
        _summary(figures.labelling),
        aligned(_coefficient_rows(figures)),
        *(aligned(rows) for rows in _stratum_tables(figures)),
        aligned(_pair_rows(figures)),
        aligned(_category_rows(figures)),
        aligned(_self_rows(figures)),
        *_model_parts(figures),
        "\n".join(textwrap.fill(note, NOTE_WIDTH) for note in _notes(figures)),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _summary(labelling: Labelling) -> str:
    counts = (
        f"{len(labelling.items):,} items, {len(labelling.annotators):,} annotators, {labelling.labels:,} labels; "
        f"{labelling.shared:,} items have labels of two annotators or more."
    )
    labels = f"Labels, {labelling.level}: {', '.join(labelling.categories)}."
    return "\n".join(textwrap.fill(line, NOTE_WIDTH) for line in (counts, labels))


def _coefficient_rows(figures: Figures) -> list[list[str]]:
    heading = f"{figures.settings.confidence * 100:g} % interval"
    rows = [["coefficient", "value", heading, "standard error", "n"]]
    for key in COEFFICIENTS:
        one = figures.coefficients[key]
        mark = " *" if key == figures.headline else ""
        error = "" if one.standard_error is None else f"{one.standard_error:.4f}"
        rows.append([f"{key}{mark}", _value(one), _between(one), error, str(one.n) if one.is_defined else ""])
    return rows


def _stratum_tables(figures: Figures) -> Iterator[list[list[str]]]:
    """One table for each field: its first strata with the coefficients for any number of annotators."""
    keys = ("percent_agreement", figures.headline, "gwet_ac1")
    for field, strata in groupby(figures.strata or [], key=lambda one: one.field):
        rows = [[field, "items", "shared", *_headings(keys)]]
        for stratum in list(strata)[:MOST_ROWS]:
            cells = [_with_interval(stratum.coefficients[key]) for key in keys]
            rows.append([stratum.stratum, f"{stratum.items:,}", f"{stratum.shared:,}", *cells])
        yield rows


def _pair_rows(figures: Figures) -> list[list[str]]:
    if len(figures.labelling.annotators) < 3:
        return []
    names = figures.labelling.annotators
    rows = [["annotator", "and", "n", *_headings(PAIR_FIGURES)]]
    for pair in figures.pairs[:MOST_ROWS]:
        cells = [_with_interval(pair.figures[key]) for key in PAIR_FIGURES]
        rows.append([names[pair.first], names[pair.second], str(pair.n), *cells])
    return rows


def _category_rows(figures: Figures) -> list[list[str]]:
    rows = [["category", "labels", "specific agreement", "kappa against the rest"]]
    rows += [
        [str(category.category), str(category.used), _with_interval(category.specific), _with_interval(category.kappa)]
        for category in figures.categories[:MOST_ROWS]
    ]
    return rows


def _self_rows(figures: Figures) -> list[list[str]]:
    if not figures.again:
        return []
    rows = [["annotator with themselves", "n", *_headings(PAIR_FIGURES)]]
    for row in figures.again[: MOST_ROWS + 1]:
        name = "all together" if row.annotator is None else figures.labelling.annotators[row.annotator]
        rows.append([name, str(row.n), *(_with_interval(row.figures[key]) for key in PAIR_FIGURES)])
    return rows


def _model_parts(figures: Figures) -> Iterator[str]:
    if figures.model is None:
        return
    if figures.model.fit is None:
        yield f"Label model: undefined. {figures.model.reason}"
        return
    fit, categories = figures.model.fit, figures.labelling.categories
    ending = "converged" if fit.is_converged else "did not converge"
    yield f"Label model (Dawid and Skene), a diagnosis and never gold: {ending} after {fit.steps} steps."
    rows = [["category", "prevalence"]]
    for category, (share, ends) in zip(categories, figures.model.prevalence, strict=True):
        rows.append([category, _numbers(share, ends)])
    yield aligned(rows)
    yield aligned(_confusion_rows(figures.model, figures.labelling))


def _confusion_rows(model: Diagnosis, labelling: Labelling) -> list[list[str]]:
    """A row for each annotator and category that they met: the label model's probabilities of their labels."""
    rows = [["annotator", "n", "right", "where true", "met", *(f"gives {name}" for name in labelling.categories)]]
    for name, annotator in list(zip(labelling.annotators, model.annotators, strict=True))[:MOST_ROWS]:
        head = [name, str(annotator.n), _numbers(annotator.right, annotator.interval)]
        for place in np.flatnonzero(annotator.met > 0).tolist():
            chances = [f"{chance:.2f}" for chance in annotator.confusion[place]]
            rows.append([*head, labelling.categories[place], f"{annotator.met[place]:.1f}", *chances])
            head = ["", "", ""]
    return rows


def _notes(figures: Figures) -> Iterator[str]:
    settings = figures.settings
    for reason, keys in _undefined(figures).items():
        yield f"{', '.join(keys)}: undefined. {reason}"
    yield f"* fits {figures.labelling.level} labels, any number of annotators, and missing ones."
    labelling = figures.labelling
    if labelling.clusters is not None:
        yield (
            f"Intervals and standard errors: over the {labelling.cluster_count:,} clusters of column "
            f"{labelling.cluster_name}, by leaving out each in turn (jackknife), with half an imagined item; where "
            "every item agrees: Wilson."
        )
    else:
        yield (
            "Intervals: percentile bootstrap over items and half an imagined one, with outer percentiles for few "
            f"items, {settings.resamples:,} resamples, seed {settings.seed}; percent agreement of two annotators, and "
            "where every item agrees: Wilson. Standard errors are analytic. Where several items belong to one query, "
            "they are too narrow: --cluster COLUMN names the column of the query."
        )
    if len(figures.pairs) > MOST_RESAMPLED and labelling.clusters is None:
        yield f"Of more than {MOST_RESAMPLED} pairs, intervals come from the standard error."
    if len(figures.labelling.annotators) > 2 and len(figures.pairs) > MOST_ROWS:
        yield f"{len(figures.pairs) - MOST_ROWS:,} more pairs: --format json, csv or tsv has all of them."
    strata = Counter(one.field for one in figures.strata or [])
    if max(len(figures.again) - 1, len(figures.categories), *strata.values()) > MOST_ROWS:
        yield f"Lists are cut at {MOST_ROWS}; --format json, csv or tsv has all of them."


def _undefined(figures: Figures) -> dict[str, list[str]]:
    """The keys of coefficients without a value, by reason."""
    by_reason: dict[str, list[str]] = {}
    for key in COEFFICIENTS:
        if not figures.coefficients[key].is_defined:
            by_reason.setdefault(figures.coefficients[key].reason, []).append(key)
    return by_reason


def _value(coefficient: Coefficient) -> str:
    return "undefined" if coefficient.value is None else number(coefficient.value, 4)


def _between(coefficient: Coefficient) -> str:
    interval = coefficient.interval
    return f"{number(interval[0], 4)} to {number(interval[1], 4)}" if interval else ""


def _with_interval(coefficient: Coefficient) -> str:
    return "undefined" if coefficient.value is None else _numbers(coefficient.value, coefficient.interval)


def _numbers(value: float, interval: tuple[float, float] | None) -> str:
    return f"{value:.2f} ({interval[0]:.2f} to {interval[1]:.2f})" if interval else f"{value:.2f}"


def _headings(keys: Sequence[str]) -> list[str]:
    return [key.replace("_", " ") for key in keys]
