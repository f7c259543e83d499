"""The interface of all engines, and the shape of their results."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any, ClassVar, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

Parameters = dict[str, Any]
Q = TypeVar("Q")


class BadParameters(ValueError):
    """A parameter that the engine does not accept; the message is a sentence for the user."""


class NotReady(RuntimeError):
    """The engine's model or packages are missing or wrong here; the message is a sentence for the user."""


class Hits(NamedTuple):
    """The results of n queries: those of query i are the entries `offsets[i]:offsets[i + 1]`, best first.

    `positions` (int32) are the numbers of the blocks in the order of indexing. `scores` (float64) are descending;
    ties are in descending position. `seconds` (float64, one per query) is the time from the text of the query to
    its sorted entries.
    """

    offsets: NDArray[np.int64]
    positions: NDArray[np.int32]
    scores: NDArray[np.float64]
    seconds: NDArray[np.float64]

    def of(self, query: int) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """Positions and scores of one query, best first."""
        entries = slice(self.offsets[query], self.offsets[query + 1])
        return self.positions[entries], self.scores[entries]


class Engine(Protocol):
    """A retrieval engine with fixed parameters. The same blocks and queries give the same result, bit by bit."""

    name: ClassVar[str]

    def identity(self) -> Parameters:
        """Everything that can change a ranking, as plain JSON values. Its digest is the name of the index."""
        ...

    def index(self, blocks: Iterable[str]) -> Any:
        """An index of the blocks; the n-th block has position n, from 0. Callers give blocks by outside id, in
        ascending bytewise order, so that descending position is descending id.
        """
        ...

    def search(self, handle: Any, queries: Sequence[str], k: int) -> Hits:
        """The best `k` blocks of each query: score descending, ties by position descending.

        A block without a match is not returned, so a query may have fewer than `k` results, or none.
        """
        ...

    def build(self, blocks: Iterable[str], folder: Path) -> None:
        """Write the index of the blocks into an existing, empty folder."""
        ...

    def load(self, folder: Path) -> Any:
        """The index that `build` wrote, memory-mapped."""
        ...


Ranked = tuple[NDArray[np.int64], NDArray[np.float64]]
"""Positions and scores of one query, best first."""

NOTHING: Ranked = (np.zeros(0, dtype=np.int64), np.zeros(0))


def one_by_one(rank: Callable[[Q], Ranked], queries: Sequence[Q], k: int) -> Hits:
    """Rank one query after the other and measure the time of each. Raises ValueError for `k` below 1."""
    if k < 1:
        raise ValueError("k must be 1 or more")
    rankings: list[Ranked] = []
    seconds = np.zeros(len(queries))
    for number, text in enumerate(queries):
        started = perf_counter()
        rankings.append(rank(text))
        seconds[number] = perf_counter() - started
    return joined(rankings, seconds)


def joined(rankings: Sequence[Ranked], seconds: NDArray[np.float64]) -> Hits:
    """The rankings of many queries in one `Hits`, in the order given."""
    sizes = [len(positions) for positions, _ in rankings]
    offsets = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
    all_positions = np.concatenate([np.zeros(0, np.int64), *(positions for positions, _ in rankings)])
    all_scores = np.concatenate([np.zeros(0), *(scores for _, scores in rankings)])
    return Hits(offsets, all_positions.astype(np.int32), all_scores, seconds)
