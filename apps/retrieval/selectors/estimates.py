"""Forecasting the size of a pool before it is requested."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from apps.corpus.models import Snapshot
from apps.retrieval.core import pooling
from apps.retrieval.core.sampling import PLAIN, PoolPlan
from apps.retrieval.models import Run, System
from apps.retrieval.selectors.runs import result_counts, reusable_run


class PoolForecast(NamedTuple):
    """The size of a pool before it is built: `at_most` pairs, of which `sampled` are random. `shallow` are chosen runs
    with fewer results than the pool's depth, `partial` those without some of the queries.
    """

    queries: int
    at_most: int
    to_run: list[System]
    reused: list[Run]
    shallow: list[Run]
    partial: list[Run]
    sampled: int = 0


def estimate_pool(
    snapshot: Snapshot,
    systems: Sequence[System],
    runs: Sequence[Run],
    depth: int,
    query_ids: Sequence[int],
    plan: PoolPlan = PLAIN,
) -> PoolForecast:
    """The most pairs that such a pool can have. Stored rankings are counted; runs still to be made count as full.

    A system that is not saved yet has no run to reuse.
    """
    saved = [system for system in systems if system.pk is not None]
    reusable = {system.pk: reusable_run(system, snapshot, depth, query_ids) for system in saved}
    reused = [run for run in reusable.values() if run is not None]
    known = {run.pk: run for run in (*runs, *reused)}
    lengths, partial = [], []
    for run in known.values():
        counts = result_counts(run.pk)
        lengths.append([counts.get(pk, 0) for pk in query_ids])
        if not counts.keys() >= set(query_ids):
            partial.append(run)
    to_run = [system for system in systems if reusable.get(system.pk) is None]
    lengths += [[depth] * len(query_ids) for _ in to_run]
    table = np.array(lengths, dtype=np.int64).reshape(len(lengths), len(query_ids))
    each = pooling.most_each(table, depth, snapshot.block_count)
    if plan.has_budget and plan.each:
        each = np.minimum(each, plan.pairs)
    from_runs = min(int(each.sum()), plan.pairs) if plan.has_budget and not plan.each else int(each.sum())
    wanted = plan.random + plan.edge + plan.easy
    sampled = int(np.minimum(wanted, snapshot.block_count - each).sum()) if wanted else 0
    shallow = [run for run in runs if run.depth < min(depth, snapshot.block_count)]
    return PoolForecast(len(query_ids), from_runs + sampled, to_run, reused, shallow, partial, sampled)
