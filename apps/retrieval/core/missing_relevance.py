"""Estimates of the relevant blocks that a pool misses, from random samples of the blocks outside it."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

PHANTOM = 0.5


class Sampled(NamedTuple):
    """Strata as columns: blocks outside the pool, how many of them were sampled and judged, how many of those are
    relevant. Leave out a stratum without a judged block.
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
    """The number of relevant blocks outside the pool in all strata together, including the judged ones.

    Raises ValueError without strata, for a stratum without a judged block, and for impossible counts.
    """
    size, judged, relevant = (np.asarray(column, dtype=np.int64) for column in sampled)
    if not len(size) or (judged < 1).any() or (judged > size).any() or (relevant < 0).any():
        raise ValueError("every stratum needs judged blocks, and no more of them than it has blocks")
    if (relevant > judged).any():
        raise ValueError("no stratum has more relevant blocks than judged ones")
    value, low, high = totals(size, judged, relevant[None, :], confidence)
    return BoundedFigure(float(value[0]), float(low[0]), float(high[0]))


def totals(size: Ints, judged: Ints, relevant: Ints, confidence: float = 0.95) -> tuple[Floats, Floats, Floats]:
    """Estimates and both ends of their intervals for many outcomes of one design.

    `size` and `judged` have one value per stratum, `relevant` one row per outcome. The estimate weights each relevant
    block by size / judged of its stratum. For the blocks that were not judged, the interval is that of a gamma
    distribution with the mean and variance of the estimate (Fay and Feuer 1997, for weighted rates), after the mid-p
    form of Fay and Kim (2017): half a relevant block more, with the sample's mean weight. The variance is that of
    sampling without replacement, so a fully judged stratum adds none. The ends are whole blocks, rounded outwards,
    and never below the number of relevant blocks seen; with none, the lower end is 0. Where the extra half block has a
    much larger weight than the relevant blocks, an end is moved out to the estimate.
    """
    from scipy.special import gammaincinv  # loaded on use: SciPy is slow to load

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
    value = seen + unseen
    low = np.where(seen > 0, np.floor(seen + gammaincinv(shape, tail) * scale), 0.0)
    high = np.ceil(np.maximum(seen + gammaincinv(shape, 1 - tail) * scale, value))
    return value, np.minimum(low, np.floor(value)), np.minimum(high, seen + (size - judged).sum())


def found_share(inside: int, missed: BoundedFigure) -> BoundedFigure:
    """The recall of a pool with `inside` relevant blocks that misses `missed` of them, from 0 to 1.

    Raises ValueError when there may be no relevant block at all.
    """
    if inside + missed.low <= 0:
        raise ValueError("a share of nothing is not defined")
    low, high = inside / (inside + missed.high), inside / (inside + missed.low)
    return BoundedFigure(inside / (inside + missed.value), low, high)
