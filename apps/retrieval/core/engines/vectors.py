"""Exact ranking of vectors by cosine, with the same bits on every machine."""

import numpy as np
from numpy.typing import NDArray

from apps.retrieval.core.engines.base import Ranked
from apps.retrieval.core.engines.postings import floor

NOTHING: Ranked = (np.zeros(0, dtype=np.int64), np.zeros(0))


def unit(vector: NDArray[np.float64]) -> NDArray[np.float64] | None:
    """The vector at length 1, or None when it has no direction."""
    length = np.sqrt((vector**2).sum())
    return vector / length if length > 0 else None


def unit_rows(rows: NDArray[np.float64]) -> NDArray[np.float32]:
    """Each row at length 1 in single precision; rows without a direction stay zero. Equal rows stay equal."""
    lengths = np.sqrt((rows**2).sum(axis=1))
    lengths[lengths == 0] = 1.0
    return (rows / lengths[:, None]).astype(np.float32)


def nearest(rows: NDArray[np.float32], vector: NDArray[np.float64], k: int) -> Ranked:
    """The `k` rows with the highest cosine above zero: score descending, ties by position descending.

    Rows and vector have length 1. A product in single precision, whose last bits depend on the machine and on the
    row, only selects the candidates. They are then scored in double precision, each in the same order of additions,
    so that equal rows tie.
    """
    rough = rows @ vector.astype(np.float32)
    slack = 4 * (rows.shape[1] + 2) * float(np.finfo(np.float32).eps)
    candidates = np.flatnonzero(rough >= floor(rough, k) - slack)[::-1]
    scores = (rows[candidates].astype(np.float64) * vector).sum(axis=1)
    above = scores > 0
    candidates, scores = candidates[above], scores[above]
    order = np.argsort(-scores, kind="stable")[:k]
    return candidates[order], scores[order]
