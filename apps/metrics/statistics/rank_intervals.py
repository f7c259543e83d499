"""Intervals of places on a leaderboard, from the intervals of scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

Ends = tuple[float, float]


class RankRange(NamedTuple):
    """The possible places of a run, counted from 1. More than one: it is tied with neighbours."""

    best: int
    worst: int

    @property
    def is_tied(self) -> bool:
        return self.best < self.worst

    @property
    def words(self) -> str:
        return f"{self.best} to {self.worst}" if self.is_tied else str(self.best)


def places(intervals: Sequence[Ends | None]) -> list[RankRange]:
    """The place of each run, in the given order.

    A run is surely below another when its interval ends below the start of the other's; intervals that touch or overlap
    are a tie. This is conservative: two runs whose intervals overlap may still differ surely query by query, which
    their paired difference shows. A run without an interval may have any place. Empty without runs.
    """
    low = np.array([-np.inf if ends is None else ends[0] for ends in intervals])
    high = np.array([np.inf if ends is None else ends[1] for ends in intervals])
    behind = high[:, None] < low[None, :]
    ahead_of, after = behind.sum(axis=1), behind.sum(axis=0)
    count = len(intervals)
    return [RankRange(1 + int(ahead), count - int(later)) for ahead, later in zip(ahead_of, after, strict=True)]
