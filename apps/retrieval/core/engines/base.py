"""What every engine promises, whatever it is made of."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any, ClassVar, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

Parameters = dict[str, Any]
Q = TypeVar("Q")


class BadParameters(ValueError):
    """A system was described with a parameter its engine cannot take; the message is a sentence to show."""


class NotReady(RuntimeError):
    """An engine lacks here what it was described with; the message is a sentence to show."""


class Hits(NamedTuple):
    """What a search returned for n queries: query i owns the entries `offsets[i]:offsets[i + 1]`.

    `positions` (int32) number the blocks of the corpus as they were indexed, `scores` (float64) fall along
    with them; equal scores stand in descending position. `seconds` (float64, one a query) is the time each
    query took, from its text to its sorted entries.
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
    """A retrieval engine with its parameters fixed. The same blocks and queries give the same bits."""

    name: ClassVar[str]

    def identity(self) -> Parameters:
        """Everything that can change a ranking, as plain JSON values; its digest names the index."""
        ...

    def index(self, blocks: Iterable[str]) -> Any:
        """A handle over the blocks; the n-th block given has position n. Callers order blocks by outside
        id, ascending bytewise, so that descending position is descending id.
        """
        ...

    def search(self, handle: Any, queries: Sequence[str], k: int) -> Hits:
        """The best `k` blocks of each query: score descending, ties by position descending.

        A block without any match is not returned, so a query may get fewer than `k`, or none.
        """
        ...

    def save(self, handle: Any, folder: Path) -> None:
        """Write the handle's arrays into an existing, empty folder."""
        ...

    def load(self, folder: Path) -> Any:
        """A handle over the folder's files, memory-mapped."""
        ...


Ranked = tuple[NDArray[np.int64], NDArray[np.float64]]
"""Positions and scores of one query, best first."""


def one_by_one(rank: Callable[[Q], Ranked], queries: Sequence[Q], k: int) -> Hits:
    """What an engine found that answers one query after the other, each timed. Raises ValueError for `k` below 1."""
    if k < 1:
        raise ValueError("k must be 1 or more")
    answers: list[Ranked] = []
    seconds = np.zeros(len(queries))
    for number, text in enumerate(queries):
        started = perf_counter()
        answers.append(rank(text))
        seconds[number] = perf_counter() - started
    return gathered(answers, seconds)


def gathered(answers: Sequence[Ranked], seconds: NDArray[np.float64]) -> Hits:
    """The answers to many queries as one."""
    sizes = [len(found) for found, _ in answers]
    offsets = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
    positions = np.concatenate([np.zeros(0, np.int64), *(found for found, _ in answers)])
    scores = np.concatenate([np.zeros(0), *(values for _, values in answers)])
    return Hits(offsets, positions.astype(np.int32), scores, seconds)
