"""Drawing blocks from outside a pool: how many, from where, and with which probability.

`PoolEntry.sampled` says of a pair how it came in when no run's top brought it:

- `{"how": "chosen"}`: somebody named it;
- `{"how": "random", "stratum": "all", "p": 0.002}`: sampled evenly from the blocks outside the pool, each of which had
  the probability `p`. Of two strata, `edge` holds the blocks that a run found below the pool, `rest` all others;
- `{"how": "easy"}`: sampled evenly from the blocks that no run found. It counts as not relevant until it is judged;
- `{"how": "same", "as": 17, "exact": true}`: a run found it, and the block version `as`, which is judged for the query,
  says the same. The pair is not judged itself; see `sameness`.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np

from apps.retrieval.core.pooling import Ints

ALL, EDGE, REST = "all", "edge", "rest"
CHOSEN, RANDOM, EASY, SAME = "chosen", "random", "easy", "same"
JUDGED = frozenset({CHOSEN, RANDOM, EASY})
_STREAMS = {ALL: 1, EDGE: 2, REST: 3, EASY: 4}


@dataclass(frozen=True, slots=True)
class PoolPlan:
    """How a pool's pairs are chosen. All counts are what the pool is to have in the end, not what is to be added.

    `pairs` is the budget of what runs bring, for each query or in all; 0 for a plain union to a depth. `random`,
    `edge` and `easy` are blocks a query. `edge_runs` are the runs whose findings make up the edge: those the pool
    drew from when the first such block was asked for. With `same_once`, of texts that are the same one is judged.
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
        return self.method != "depth"

    @property
    def has_draws(self) -> bool:
        return bool(self.random or self.edge or self.easy)

    @property
    def has_marks(self) -> bool:
        """Whether some pairs say in `sampled` what they are."""
        return self.has_draws or self.same_once

    @property
    def strata(self) -> dict[str, int]:
        """How many blocks a query are sampled at random from each stratum."""
        wanted = {EDGE: self.edge, REST: self.random} if self.edge else {ALL: self.random}
        return {stratum: count for stratum, count in wanted.items() if count}

    def as_json(self) -> dict[str, Any] | None:
        """What `Pool.plan` keeps: nothing for the plain union."""
        if not self.has_budget and not self.has_marks:
            return None
        return {**asdict(self), "edge_runs": list(self.edge_runs)}


PLAIN = PoolPlan()
"""The union of the runs down to the pool's depth, and nothing else."""


def plan_of(stored: Mapping[str, Any] | None) -> PoolPlan:
    """The plan that `Pool.plan` holds; the plain union when it is empty."""
    if not stored or "method" not in stored:
        return PLAIN
    return PoolPlan(**{**stored, "edge_runs": tuple(stored["edge_runs"])})


class SampledBlocks(NamedTuple):
    """Blocks sampled, by position, ascending, and the probability that each had."""

    positions: Ints
    probability: float


def draw(frame: Ints, count: int, rng: np.random.Generator) -> SampledBlocks:
    """`count` positions of `frame` (ascending), all equally likely; all of it when it has no more."""
    if count >= len(frame):
        return SampledBlocks(frame, 1.0)
    places = rng.choice(len(frame), count, replace=False)
    return SampledBlocks(np.sort(frame[places]), count / len(frame))


def draw_outside(without: Ints, blocks: int, count: int, rng: np.random.Generator) -> SampledBlocks:
    """`count` of the positions 0 to `blocks` − 1 that are not in `without` (ascending, each once).

    The positions left are never written out, so a large corpus costs no more than a small one.
    """
    left = blocks - len(without)
    if count >= left:
        return SampledBlocks(np.setdiff1d(np.arange(blocks), without, assume_unique=True), 1.0)
    places = np.sort(rng.choice(left, count, replace=False))
    shifted = without - np.arange(len(without))
    return SampledBlocks(places + np.searchsorted(shifted, places, side="right"), count / left)


def generator(seed: int, query: int, stratum: str, had: int) -> np.random.Generator:
    """The random numbers of one draw for a query that `had` blocks of the stratum before."""
    return np.random.default_rng([seed, query, _STREAMS[stratum], had])
