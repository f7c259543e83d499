"""`karat agree` as one JSON object: numbers unrounded; undefined figures have a reason and no value."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from apps.cli.agree.figures import Figures, SelfAgreement, StratumFigures
from apps.metrics.agreement.label_model import Diagnosis
from apps.metrics.agreement.overall import COEFFICIENTS, FURTHER
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
        "level": labelling.level,
        "categories": list(labelling.categories),
        "headline": figures.headline,
        **_everybody(figures.coefficients, settings.confidence),
        "pairs": [
            {
                "annotators": [labelling.annotators[pair.first], labelling.annotators[pair.second]],
                "n": pair.n,
                **_coefficients(pair.figures, settings.confidence),
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
    }


def _coefficients(coefficients: Mapping[str, Coefficient], confidence: float) -> dict[str, Any]:
    return {key: coefficient_as_object(one, confidence) for key, one in coefficients.items()}


def _everybody(coefficients: Mapping[str, Coefficient], confidence: float) -> dict[str, Any]:
    """The coefficients over all annotators: the usual ones, and further ones."""
    return {
        "coefficients": _coefficients({key: coefficients[key] for key in COEFFICIENTS}, confidence),
        "further": _coefficients({key: coefficients[key] for key in FURTHER}, confidence),
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
    return {"annotator": name, "n": row.n, **_coefficients(row.figures, confidence)}


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
