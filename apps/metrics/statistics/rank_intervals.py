"""Which places on a leaderboard a run may hold, as far as the intervals tell."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

Ends = tuple[float, float]


class RankRange(NamedTuple):
    """The places that a run may hold, counted from 1. More than one: it is tied with neighbours."""

    best: int
    worst: int

    @property
    def is_tied(self) -> bool:
        return self.best < self.worst

    @property
    def words(self) -> str:
        return f"{self.best} to {self.worst}" if self.is_tied else str(self.best)


def places(intervals: Sequence[Ends | None]) -> list[RankRange]:
    """The place of each run, in the order given.

    A run stands surely behind another when its interval ends below where the other's begins; intervals that touch
    or overlap are a tie. This is careful: two runs whose intervals overlap may still differ surely query by query,
    which their paired difference tells. A run without an interval may hold any place. Empty for no run.
    """
    low = np.array([-np.inf if ends is None else ends[0] for ends in intervals])
    high = np.array([np.inf if ends is None else ends[1] for ends in intervals])
    behind = high[:, None] < low[None, :]
    ahead_of, after = behind.sum(axis=1), behind.sum(axis=0)
    count = len(intervals)
    return [RankRange(1 + int(ahead), count - int(later)) for ahead, later in zip(ahead_of, after, strict=True)]
