"""What every engine promises, whatever it is made of."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

Parameters = dict[str, Any]


class BadParameters(ValueError):
    """A system was described with a parameter its engine cannot take; the message is a sentence to show."""


class Found(NamedTuple):
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

    def search(self, handle: Any, queries: Sequence[str], k: int) -> Found:
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
