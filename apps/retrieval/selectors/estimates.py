"""What a pool would come to, before it is asked for."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from apps.corpus.models import Snapshot
from apps.retrieval.core import pooling
from apps.retrieval.core.sampling import PLAIN, PoolPlan
from apps.retrieval.models import Run, System
from apps.retrieval.selectors.runs import result_counts, run_that_serves


class PoolForecast(NamedTuple):
    """What a pool would come to, before it is asked for. `shallow` are runs that keep fewer results than the
    pool is deep; `partial` are runs that lack some of the queries. `sampled` of the pairs come in at random.
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
    """How many pairs such a pool can have at most. Rankings that exist are counted, others taken as full."""
    served = {system.pk: run_that_serves(system, snapshot, depth, query_ids) for system in systems}
    reused = [run for run in served.values() if run is not None]
    known = {run.pk: run for run in (*runs, *reused)}
    lengths, partial = [], []
    for run in known.values():
        counts = result_counts(run.pk)
        lengths.append([counts.get(pk, 0) for pk in query_ids])
        if not counts.keys() >= set(query_ids):
            partial.append(run)
    to_run = [system for system in systems if served[system.pk] is None]
    lengths += [[depth] * len(query_ids) for _ in to_run]
    table = np.array(lengths, dtype=np.int64).reshape(len(lengths), len(query_ids))
    each = pooling.most_each(table, depth, snapshot.block_count)
    if plan.has_budget and plan.each:
        each = np.minimum(each, plan.pairs)
    found = min(int(each.sum()), plan.pairs) if plan.has_budget and not plan.each else int(each.sum())
    wanted = plan.random + plan.edge + plan.easy
    sampled = int(np.minimum(wanted, snapshot.block_count - each).sum()) if wanted else 0
    shallow = [run for run in runs if run.depth < depth]
    return PoolForecast(len(query_ids), found + sampled, to_run, reused, shallow, partial, sampled)
