"""Sampling blocks from outside a pool: at random, to estimate what it misses, and easy negatives."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

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
    generator,
    sample,
    sample_outside,
)
from apps.retrieval.execution.budgets import positions_of
from apps.retrieval.models import Pool, PoolEntry, Ranking, Run
from apps.retrieval.selectors.finding import in_parts

ROWS_AT_ONCE = 500
FAR_DOWN = 100
NOTHING = np.zeros(0, dtype=np.int64)


class SamplingFrame(NamedTuple):
    """Blocks of one query, as ascending positions: in the pool, on its edge, and ranked high by any run."""

    pooled: Ints
    edge: Ints
    high: Ints


def add_samples(pool: Pool, query_ids: Sequence[int], plan: PoolPlan, runs: Sequence[Run], versions: Ints) -> None:
    """Sample the blocks that each query still lacks under the plan. Blocks sampled before stay."""
    counts, pooled = _stored(pool, query_ids, versions)
    high = found_anywhere(runs, query_ids, far_down(pool.depth)) if plan.easy else {}
    edge = edge_of(plan, query_ids)
    added: list[PoolEntry] = []
    for query in query_ids:
        frame = SamplingFrame(pooled.get(query, NOTHING), edge.get(query, NOTHING), high.get(query, NOTHING))
        for stratum, wanted in {**plan.strata, EASY: plan.easy}.items():
            count = counts.get((query, stratum), 0)
            if wanted <= count:
                continue
            rng = generator(plan.seed, query, stratum, count)
            sampled = _sample(stratum, frame, len(versions), wanted - count, rng)
            how = {"how": EASY} if stratum == EASY else {"how": RANDOM, "stratum": stratum, "p": sampled.probability}
            chosen = versions[sampled.positions].tolist()
            added += [PoolEntry(pool=pool, query_id=query, version_id=version, sampled=how) for version in chosen]
            frame = frame._replace(pooled=np.union1d(frame.pooled, sampled.positions))
    PoolEntry.objects.bulk_create(added, batch_size=ROWS_AT_ONCE)


def _sample(stratum: str, frame: SamplingFrame, blocks: int, count: int, rng: np.random.Generator) -> SampledBlocks:
    if stratum == EDGE:
        return sample(np.setdiff1d(frame.edge, frame.pooled, assume_unique=True), count, rng)
    without = {ALL: NOTHING, REST: frame.edge, EASY: frame.high}[stratum]
    return sample_outside(np.union1d(frame.pooled, without), blocks, count, rng)


def far_down(depth: int) -> int:
    """The rank below which blocks can be easy negatives: ten times the pool's depth, at least 100."""
    return max(FAR_DOWN, 10 * depth)


def edge_of(plan: PoolPlan, query_ids: Sequence[int]) -> dict[int, Ints]:
    """By query, every block that the plan's edge runs found, in the pool or not; empty for a plan without an edge."""
    if not plan.edge:
        return {}
    runs = Run.objects.filter(pk__in=plan.edge_runs)
    return found_anywhere(list(runs), query_ids, None)


def found_anywhere(runs: Sequence[Run], query_ids: Sequence[int], depth: int | None) -> dict[int, Ints]:
    """By query, the positions that any of the runs found down to `depth` (None for all), ascending."""
    tops_of: dict[int, list[Ints]] = {}
    for part in in_parts(query_ids):
        rows = Ranking.objects.filter(run__in=runs, query__in=part).values_list("query_id", "packed")
        for query, packed in rows.iterator():
            tops_of.setdefault(query, []).append(ranking.unpack(bytes(packed))[0][:depth].astype(np.int64))
    return {query: np.unique(np.concatenate(tops)) for query, tops in tops_of.items()}


def _stored(pool: Pool, query_ids: Sequence[int], versions: Ints) -> tuple[dict[tuple[int, str], int], dict[int, Ints]]:
    """The number of sampled blocks by query and stratum, and the positions of all pairs by query."""
    rows = PoolEntry.objects.filter(pool=pool, query__in=query_ids).values_list("query_id", "version_id", "sampled")
    counts: dict[tuple[int, str], int] = {}
    pooled: dict[int, list[int]] = {}
    for query, version, sampled in rows.iterator():
        pooled.setdefault(query, []).append(version)
        if sampled:
            key = (query, sampled.get("stratum", sampled["how"]))
            counts[key] = counts.get(key, 0) + 1
    positions = {query: np.sort(positions_of(np.array(ids), versions)) for query, ids in pooled.items()}
    return counts, positions
