"""Weights of agreement between two categories: 1 on the diagonal, lower with distance."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

KINDS = ("nominal", "linear", "quadratic", "ordinal")


def agreement_weights(kind: str, values: Sequence[float]) -> Floats:
    """Categories by categories, from the values of the categories.

    `nominal` is 0 for every difference; `linear` and `quadratic` use the distance between the values as a share of the
    widest distance (Cohen 1968; Fleiss and Cohen 1973). `ordinal` uses the number of pairs of categories from one to
    the other, ends included, by position (Gwet, Handbook of Inter-Rater Reliability, 2014, section 3.5). Raises
    ValueError for another kind.
    """
    points = np.asarray(values, dtype=float)
    distance = np.abs(points[:, None] - points[None, :])
    if kind == "nominal":
        return (distance == 0).astype(float)
    if kind == "ordinal":
        places = np.argsort(np.argsort(points)).astype(float)
        steps = np.abs(places[:, None] - places[None, :])
        distance, kind = steps * (steps + 1) / 2, "linear"
    if kind not in {"linear", "quadratic"}:
        raise ValueError(f"{kind!r} is not a kind of weights; use nominal, linear, quadratic or ordinal")
    widest = distance.max() or 1.0
    return 1.0 - (distance / widest) ** (1 if kind == "linear" else 2)


def weights_from_disagreement(costs: Sequence[Sequence[float]]) -> Floats:
    """The weights of a table of costs, 0 on the diagonal (Cohen 1968): 1 - cost / highest cost."""
    table = np.asarray(costs, dtype=float)
    if (table < 0).any() or np.diag(table).any() or not table.any():
        raise ValueError("costs of disagreement are 0 on the diagonal, none below 0, and one at least above")
    return 1.0 - table / table.max()
