"""Writing the pairs of a pool, in parts; each part is written exactly once."""

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from apps.jobs.execution.context import JobContext
from apps.retrieval.core import pooling, ranking
from apps.retrieval.core.allocation import fused_scores
from apps.retrieval.core.sampling import plan_of
from apps.retrieval.execution.budgets import spend_budget
from apps.retrieval.execution.pool_sampling import add_samples
from apps.retrieval.execution.same_texts import SameTexts, mark_same
from apps.retrieval.models import Pool, PoolEntry, Ranking, Run
from apps.retrieval.selectors.finding import in_parts
from apps.retrieval.selectors.snapshots import version_ids

POOLED_AT_ONCE = 200
ROWS_AT_ONCE = 500


def collect_pairs(
    ctx: JobContext, pool: Pool, runs: Sequence[Run], query_ids: Sequence[int], on_part: Callable[[int], None]
) -> dict[str, Any]:
    """Write the pairs that the pool's plan chooses; returns the summary of the whole pool.

    `on_part` is called after each part with its number of queries.
    """
    plan = plan_of(pool.plan)
    versions = version_ids(pool.snapshot)
    write = partial(write_entries, same=SameTexts(pool.snapshot) if plan.same_once else None)
    if plan.has_budget:
        spend_budget(ctx, pool, runs, query_ids, plan, write)
    parts, sampled = [], Counter[str]()
    for part in in_parts(query_ids, POOLED_AT_ONCE):
        union = None if plan.has_budget else union_of(runs, part, pool.depth)
        with ctx.chunk(f"pool:{part[0]}") as fresh:
            if fresh and union is not None:
                write(pool, part, union, versions)
            if fresh and plan.has_samples:
                add_samples(pool, part, plan, runs, versions)
        if union is None or plan.has_sampled:
            union = stored_union(pool, part)
            sampled += sampled_counts(pool, part)
        parts.append((pooling.pairs_per_query(union, np.array(part)), pooling.overlap(union, _ids(runs))))
        on_part(len(part))
    summary = summary_of(parts, runs)
    return {**summary, "sampled": dict(sampled)} if plan.has_sampled else summary


def union_of(runs: Sequence[Run], query_ids: Sequence[int], depth: int) -> pooling.Union:
    """The union of the runs' top `depth` for the queries, with the runs and ranks of each pair."""
    rows = Ranking.objects.filter(run__in=runs, query__in=query_ids).values_list("run_id", "query_id", "packed")
    tops = ((run, query, ranking.unpack(bytes(packed))[0][:depth]) for run, query, packed in rows.iterator())
    return pooling.union(pooling.columns(tops), depth)


def stored_union(pool: Pool, query_ids: Sequence[int]) -> pooling.Union:
    """The pairs of the pool for the queries, with the runs that found each: none for a sampled pair.

    `position` has block version ids here instead of positions; callers only compare and count them.
    """
    rows = PoolEntry.objects.filter(pool=pool, query__in=query_ids).order_by("query_id", "version_id")
    query, version, finders = [], [], []
    for query_id, version_id, found_by in rows.values_list("query_id", "version_id", "found_by").iterator():
        query.append(query_id)
        version.append(version_id)
        finders.append(found_by)
    sizes = np.array([len(found_by) for found_by in finders], dtype=np.int64)
    run, rank = np.array([finder for found_by in finders for finder in found_by], dtype=np.int64).reshape(-1, 2).T
    offsets = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
    return pooling.Union(np.array(query, dtype=np.int64), np.array(version, dtype=np.int64), offsets, run, rank)


def sampled_counts(pool: Pool, query_ids: Sequence[int]) -> Counter[str]:
    """The number of the pool's pairs for the queries with a value in `sampled`, by its `how`."""
    rows = PoolEntry.objects.filter(pool=pool, query__in=query_ids, sampled__isnull=False)
    return Counter(rows.values_list("sampled__how", flat=True).iterator())


def write_entries(
    pool: Pool, query_ids: Sequence[int], union: pooling.Union, versions: np.ndarray, same: SameTexts | None = None
) -> None:
    """Add missing pairs to the pool, and update which runs found the pairs it has.

    With `same`, an added pair is marked when the same text is judged for its query.
    """
    stored = {
        (entry.query_id, entry.version_id): entry for entry in PoolEntry.objects.filter(pool=pool, query__in=query_ids)
    }
    added, places, known = [], [], []
    finders = np.stack([union.run, union.rank], axis=1).tolist()
    pairs = zip(union.query.tolist(), versions[union.position].tolist(), strict=True)
    for number, (query_id, version_id) in enumerate(pairs):
        found_by = finders[union.offsets[number] : union.offsets[number + 1]]
        entry = stored.get((query_id, version_id))
        if entry is None:
            added.append(PoolEntry(pool=pool, query_id=query_id, version_id=version_id, found_by=found_by))
            places.append(number)
        elif entry.found_by != found_by:
            entry.found_by = found_by
            known.append(entry)
    if same is not None and added:
        best_first = np.argsort(-fused_scores(union)[places], kind="stable").tolist()
        mark_same(stored.values(), [added[place] for place in best_first], same)
    PoolEntry.objects.bulk_create(added, batch_size=ROWS_AT_ONCE)
    PoolEntry.objects.bulk_update(known, ["found_by"], batch_size=ROWS_AT_ONCE)


def summary_of(parts: Sequence[tuple[pooling.Ints, pooling.Overlap]], runs: Sequence[Run]) -> dict[str, Any]:
    """The summary on the pool's page: pairs per query and the overlap of the runs, as plain JSON."""
    counts = np.concatenate([np.zeros(0, dtype=np.int64), *(part for part, _ in parts)])
    spread = pooling.spread(counts)
    overlaps = [overlap for _, overlap in parts]
    return {
        "pairs": spread.total,
        "queries": len(counts),
        "without": int((counts == 0).sum()),
        "smallest": spread.smallest,
        "median": spread.median,
        "largest": spread.largest,
        "sizes": np.bincount(counts).tolist() if len(counts) else [],
        "runs": _ids(runs).tolist(),
        "shared": _sum([overlap.shared for overlap in overlaps]),
        "alone": _sum([overlap.alone for overlap in overlaps]),
        "found_by": _sum([overlap.found_by for overlap in overlaps]),
    }


def _sum(tables: Sequence[np.ndarray]) -> list[Any]:
    """The sum of the tables, cell by cell; an empty list without tables."""
    if not tables:
        return []
    return list(np.asarray(np.sum(tables, axis=0, dtype=np.int64)).tolist())


def _ids(runs: Sequence[Run]) -> pooling.Ints:
    return np.array(sorted(run.pk for run in runs), dtype=np.int64)
