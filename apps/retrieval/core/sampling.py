"""Sampling of blocks from outside a pool, by stratum, and what the samples tell of the relevant ones it misses.

`PoolEntry.sampled` says how a pair came into the pool, unless it is simply a top result of a run:

- `{"how": "chosen"}`: somebody chose the pair;
- `{"how": "random", "stratum": "all", "p": 0.002}`: sampled from the blocks outside the pool, each with the probability
  `p`. With two strata, `edge` has the blocks that a run found below the pool depth, `rest` all others;
- `{"how": "pairs", "p": 0.05}`: sampled from all pairs that runs found, each with the probability `p`;
- `{"how": "easy"}`: sampled from the blocks that no run found. It counts as not relevant until it is judged;
- `{"how": "every"}`: no run found it, but the pool has every block of the snapshot.
- `{"how": "same", "as": 17, "exact": true}`: a run found it, but its text is the same as that of the block version
  `as`, which is judged for the query. The pair is not judged itself; see `pooling`.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from apps.retrieval.core.pooling import Ints

Floats = NDArray[np.float64]
ALL, EDGE, REST = "all", "edge", "rest"
CHOSEN, RANDOM, PAIRS, EASY, EVERY, SAME = "chosen", "random", "pairs", "easy", "every", "same"
JUDGED = frozenset({CHOSEN, RANDOM, PAIRS, EASY, EVERY})
_STREAMS = {ALL: 1, EDGE: 2, REST: 3, EASY: 4}
PHANTOM = 0.5


@dataclass(frozen=True, slots=True)
class PoolPlan:
    """How the pairs of a pool are chosen. All counts are totals of the finished pool, not additions.

    `pairs` is the budget of pairs from runs, for each query or in total; 0 without a budget. `random`,
    `edge` and `easy` are blocks per query. `edge_runs` are the runs whose results below the pool depth are the edge:
    the runs of the pool when `edge` was first set. With `same_once`, only one of several same texts is judged.
    """

    method: str = "depth"
    pairs: int = 0
    each: bool = True
    random: int = 0
    edge: int = 0
    easy: int = 0
    seed: int = 0
    edge_runs: tuple[int, ...] = ()
    same_once: bool = False

    @property
    def has_budget(self) -> bool:
        return self.method not in {"depth", EVERY}

    @property
    def takes_every(self) -> bool:
        """Whether it takes every block of the snapshot, whatever the runs found."""
        return self.method == EVERY

    @property
    def has_samples(self) -> bool:
        return bool(self.random or self.edge or self.easy)

    @property
    def has_sampled(self) -> bool:
        """Whether some pairs have a value in `sampled`."""
        return self.has_samples or self.same_once or self.takes_every

    @property
    def strata(self) -> dict[str, int]:
        """How many blocks per query are sampled at random from each stratum; strata without any are left out."""
        wanted = {EDGE: self.edge, REST: self.random} if self.edge else {ALL: self.random}
        return {stratum: count for stratum, count in wanted.items() if count}

    def as_json(self) -> dict[str, Any] | None:
        """The value of `Pool.plan`; None for the plain union."""
        if not self.has_budget and not self.has_sampled:
            return None
        return {**asdict(self), "edge_runs": list(self.edge_runs)}


PLAIN = PoolPlan()
"""The union of the runs' results down to the pool's depth."""


def plan_of(stored: Mapping[str, Any] | None) -> PoolPlan:
    """The plan in `Pool.plan`; the plain union when it is empty."""
    if not stored or "method" not in stored:
        return PLAIN
    return PoolPlan(**{**stored, "edge_runs": tuple(stored["edge_runs"])})


class SampledBlocks(NamedTuple):
    """The positions of sampled blocks, ascending, and the probability that each block had."""

    positions: Ints
    probability: float


def sample(frame: Ints, count: int, rng: np.random.Generator) -> SampledBlocks:
    """Sample `count` of the positions in `frame` (ascending) with equal probability; all of them when it has fewer."""
    if count >= len(frame):
        return SampledBlocks(frame, 1.0)
    places = rng.choice(len(frame), count, replace=False)
    return SampledBlocks(np.sort(frame[places]), count / len(frame))


def sample_outside(without: Ints, blocks: int, count: int, rng: np.random.Generator) -> SampledBlocks:
    """Sample `count` of the positions 0 to `blocks` − 1 that are not in `without` (ascending, each once).

    The remaining positions are never listed, so a large corpus takes no longer than a small one.
    """
    left = blocks - len(without)
    if count >= left:
        return SampledBlocks(np.setdiff1d(np.arange(blocks), without, assume_unique=True), 1.0)
    places = np.sort(rng.choice(left, count, replace=False))
    shifted = without - np.arange(len(without))
    return SampledBlocks(places + np.searchsorted(shifted, places, side="right"), count / left)


def generator(seed: int, query: int, stratum: str, before: int) -> np.random.Generator:
    """The random generator of one sample, for a query with `before` blocks of the stratum already."""
    return np.random.default_rng([seed, query, _STREAMS[stratum], before])


def sample_pairs(query: Ints, count: int, seed: int) -> SampledBlocks:
    """Sample `count` places of pairs, whose queries are given, each with equal probability; all when there are fewer.

    A systematic sample of the pairs, query by query in random order (Madow & Madow, Annals of Mathematical Statistics
    15, 1944): the number of pairs of a query differs from its share by less than one.
    """
    size = len(query)
    if count >= size:
        return SampledBlocks(np.arange(size), 1.0)
    rng = np.random.default_rng(seed)
    queries, number = np.unique(query, return_inverse=True)
    order = np.lexsort((rng.permutation(size), rng.permutation(len(queries))[number]))
    places = ((np.arange(count) + rng.random()) * size / count).astype(np.int64)
    return SampledBlocks(np.sort(order[np.minimum(places, size - 1)]), count / size)


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
