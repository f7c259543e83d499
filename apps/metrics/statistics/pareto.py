"""The Pareto front of runs: quality against latency or cost."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def front(quality: Sequence[float | None], price: Sequence[float | None]) -> list[bool]:
    """Whether no other run is at least as good, at most as expensive, and better in one of the two.

    `quality[i]` is better the higher it is, `price[i]` the lower. Runs that are equal in both are on the front
    together. A run without either value is not on the front and excludes no other. Empty without runs.

    Raises ValueError when the two differ in length.
    """
    if len(quality) != len(price):
        raise ValueError("A Pareto front needs a quality and a price of every run.")
    good = np.array([np.nan if value is None else value for value in quality], dtype=float)
    dear = np.array([np.nan if value is None else value for value in price], dtype=float)
    known = ~np.isnan(good) & ~np.isnan(dear)
    no_worse = (good[None, :] >= good[:, None]) & (dear[None, :] <= dear[:, None])
    better = (good[None, :] > good[:, None]) | (dear[None, :] < dear[:, None])
    beaten = (no_worse & better).any(axis=1)
    return [bool(one) for one in known & ~beaten]
