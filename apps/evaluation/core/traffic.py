"""Means weighted to the traffic of the search logs that queries were drawn from. No database."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from apps.metrics.columns import Floats, Ints
from apps.metrics.statistics.intervals import Draw
from apps.metrics.statistics.significance import Summary, weighted_summaries
from apps.querylogs.enums import TRAFFIC


class Drawn(NamedTuple):
    """The queries that were drawn from logs: their rows, the searches each stands for, and how they were drawn.

    A query that was drawn twice, in two wordings, is there twice.
    """

    rows: Ints
    weights: Floats
    draw: Draw


def drawn_among(metadata: Sequence[Mapping[str, Any]]) -> Drawn:
    """Those of the queries, given by their metadata, that were drawn from a log. Each weighs searches / chance."""
    found = [(row, one) for row, facts in enumerate(metadata) for one in facts.get(TRAFFIC, [])]
    names = [f"{one['log']}: {one['stratum']}" for _, one in found]
    chances = np.array([one["chance"] for _, one in found], dtype=np.float64)
    searches = np.array([one["searches"] for _, one in found], dtype=np.float64)
    strata = np.unique(np.array(names), return_inverse=True)[1].astype(np.int64)
    return Drawn(np.array([row for row, _ in found], dtype=np.int64), searches / chances, Draw(chances, strata))


def traffic_means(drawn: Drawn, runs: Sequence[Floats]) -> list[Summary]:
    """The mean of each run over all searches that the drawn queries stand for, estimated as Hájek (1971) has it."""
    values = np.column_stack([run[drawn.rows] for run in runs])
    return weighted_summaries(values, drawn.weights, draw=drawn.draw)
