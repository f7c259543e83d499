"""Blocks sampled beside a pool: at random, to learn what it misses, and easy ones that hardly can be relevant."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from apps.retrieval import selectors
from apps.retrieval.core import ranking
from apps.retrieval.core.pooling import Ints
from apps.retrieval.core.sampling import (
    ALL,
    EASY,
    EDGE,
    RANDOM,
    REST,
    PoolPlan,
    SampledBlocks,
    draw,
    draw_outside,
    generator,
)
from apps.retrieval.execution.budgets import positions_of
from apps.retrieval.models import Pool, PoolEntry, Ranking, Run

ROWS_AT_ONCE = 500
FAR_DOWN = 100
NOTHING = np.zeros(0, dtype=np.int64)


class SamplingFrame(NamedTuple):
    """One query's blocks, as ascending positions: in the pool, found by a run of the edge, and ranked high by any."""

    pooled: Ints
    edge: Ints
    high: Ints


def draw_beside(pool: Pool, query_ids: Sequence[int], plan: PoolPlan, runs: Sequence[Run], versions: Ints) -> None:
    """Give each of the queries the sampled blocks it still lacks. Those it has stay."""
    had, pooled = _had(pool, query_ids, versions)
    found = found_anywhere(runs, query_ids, far_down(pool.depth)) if plan.easy else {}
    edge = edge_of(plan, query_ids)
    added: list[PoolEntry] = []
    for query in query_ids:
        beside = SamplingFrame(pooled.get(query, NOTHING), edge.get(query, NOTHING), found.get(query, NOTHING))
        for stratum, wanted in {**plan.strata, EASY: plan.easy}.items():
            count = had.get((query, stratum), 0)
            if wanted <= count:
                continue
            rng = generator(plan.seed, query, stratum, count)
            sampled = _draw(stratum, beside, len(versions), wanted - count, rng)
            how = {"how": EASY} if stratum == EASY else {"how": RANDOM, "stratum": stratum, "p": sampled.probability}
            chosen = versions[sampled.positions].tolist()
            added += [PoolEntry(pool=pool, query_id=query, version_id=version, sampled=how) for version in chosen]
            beside = beside._replace(pooled=np.union1d(beside.pooled, sampled.positions))
    PoolEntry.objects.bulk_create(added, batch_size=ROWS_AT_ONCE)


def _draw(stratum: str, beside: SamplingFrame, blocks: int, count: int, rng: np.random.Generator) -> SampledBlocks:
    if stratum == EDGE:
        return draw(np.setdiff1d(beside.edge, beside.pooled, assume_unique=True), count, rng)
    without = {ALL: NOTHING, REST: beside.edge, EASY: beside.high}[stratum]
    return draw_outside(np.union1d(beside.pooled, without), blocks, count, rng)


def far_down(depth: int) -> int:
    """The rank below which a block counts as far down: ten times as deep as the pool, at least the hundredth."""
    return max(FAR_DOWN, 10 * depth)


def edge_of(plan: PoolPlan, query_ids: Sequence[int]) -> dict[int, Ints]:
    """By query, every block that a run of the plan's edge found, pooled or not; empty for a plan without an edge."""
    if not plan.edge:
        return {}
    runs = Run.objects.filter(pk__in=plan.edge_runs)
    return found_anywhere(list(runs), query_ids, None)


def found_anywhere(runs: Sequence[Run], query_ids: Sequence[int], depth: int | None) -> dict[int, Ints]:
    """By query, the blocks that any of the runs has down to `depth`, None for as far as it goes; ascending."""
    found: dict[int, list[Ints]] = {}
    for part in selectors.in_parts(query_ids):
        rows = Ranking.objects.filter(run__in=runs, query__in=part).values_list("query_id", "packed")
        for query, packed in rows.iterator():
            found.setdefault(query, []).append(ranking.unpack(bytes(packed))[0][:depth].astype(np.int64))
    return {query: np.unique(np.concatenate(tops)) for query, tops in found.items()}


def _had(pool: Pool, query_ids: Sequence[int], versions: Ints) -> tuple[dict[tuple[int, str], int], dict[int, Ints]]:
    """How many sampled blocks each query has by stratum, and the positions of all its pairs."""
    rows = PoolEntry.objects.filter(pool=pool, query__in=query_ids).values_list("query_id", "version_id", "sampled")
    had: dict[tuple[int, str], int] = {}
    pooled: dict[int, list[int]] = {}
    for query, version, sampled in rows.iterator():
        pooled.setdefault(query, []).append(version)
        if sampled:
            key = (query, sampled.get("stratum", sampled["how"]))
            had[key] = had.get(key, 0) + 1
    places = {query: np.sort(positions_of(np.array(kept), versions)) for query, kept in pooled.items()}
    return had, places
