"""How much relevance a pool misses, told from random samples of what it left out."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaincinv

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

PHANTOM = 0.5


class Sampled(NamedTuple):
    """Strata as columns: blocks outside the pool, how many of them were sampled at random and judged, how many of
    those are relevant. A stratum of which nothing was judged says nothing and must be left out.
    """

    size: Ints
    judged: Ints
    relevant: Ints


class BoundedFigure(NamedTuple):
    """A number with its interval."""

    value: float
    low: float
    high: float


def missing(sampled: Sampled, confidence: float = 0.95) -> BoundedFigure:
    """How many relevant blocks are outside the pool, over all strata together, the judged ones included.

    Raises ValueError for no stratum, for one of which nothing was judged, and for counts that cannot be.
    """
    size, judged, relevant = (np.asarray(column, dtype=np.int64) for column in sampled)
    if not len(size) or (judged < 1).any() or (judged > size).any() or (relevant < 0).any():
        raise ValueError("every stratum needs judged blocks, and no more of them than there are")
    if (relevant > judged).any():
        raise ValueError("no stratum has more relevant blocks than judged ones")
    value, low, high = totals(size, judged, relevant[None, :], confidence)
    return BoundedFigure(float(value[0]), float(low[0]), float(high[0]))


def totals(size: Ints, judged: Ints, relevant: Ints, confidence: float = 0.95) -> tuple[Floats, Floats, Floats]:
    """Estimates and both ends of their intervals for many outcomes of one design.

    `size` and `judged` have one value a stratum, `relevant` one row an outcome. The estimate weighs each relevant
    block by size / judged of its stratum. What was not judged gets the interval of a gamma distribution with the mean
    and the variance of that estimate (Fay and Feuer 1997, for rates standardised by weights), in the middle form of
    Fay and Kim (2017): half a relevant block more, at the sample's mean weight. The variance is that of
    sampling strata without replacement, so a stratum judged to its end adds none. The ends are whole blocks, rounded
    outwards, never below what was seen; with no relevant block the lower one is 0.
    """
    seen = relevant.sum(axis=-1).astype(np.float64)
    partly = judged < size
    size, judged, relevant = size[partly], judged[partly], relevant[..., partly].astype(np.float64)
    if not len(size):
        return seen, seen.copy(), seen.copy()
    weight, share = size / judged, judged / size
    unseen = (relevant * (weight - 1)).sum(axis=-1)
    spread = np.where(judged > 1, (judged - relevant) / np.maximum(judged - 1, 1), 1.0)
    variance = (relevant * weight**2 * (1 - share) * spread).sum(axis=-1)
    usual = (weight**2 * judged).sum() / size.sum()
    mean = unseen + PHANTOM * usual
    variance = variance + PHANTOM * usual**2 * (1 - judged.sum() / size.sum())
    shape, scale = mean**2 / variance, variance / mean
    tail = (1 - confidence) / 2
    low = np.where(seen > 0, np.floor(seen + gammaincinv(shape, tail) * scale), 0.0)
    high = np.minimum(np.ceil(seen + gammaincinv(shape, 1 - tail) * scale), seen + (size - judged).sum())
    return seen + unseen, low, high


def found_share(found: int, missed: BoundedFigure) -> BoundedFigure:
    """Which share of all relevant blocks the pool holds, when it holds `found` and misses `missed` of them.

    Raises ValueError when there may be no relevant block at all.
    """
    if found + missed.low <= 0:
        raise ValueError("a share of nothing is not defined")
    low, high = found / (found + missed.high), found / (found + missed.low)
    return BoundedFigure(found / (found + missed.value), low, high)
