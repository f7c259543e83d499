"""Choosing and writing the pairs of a pool, in parts; each part is written exactly once."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np

from apps.common.database.bulk import chunks
from apps.corpus.core.near_duplicates import resemblance
from apps.corpus.models import BlockVersion, Snapshot
from apps.jobs.execution.context import JobContext
from apps.retrieval.core import pooling
from apps.retrieval.core.allocation import fused_scores
from apps.retrieval.core.pooling import Ints, Representative, representatives
from apps.retrieval.core.sampling import (
    ALL,
    EASY,
    EDGE,
    EVERY,
    JUDGED,
    RANDOM,
    REST,
    SAME,
    PoolPlan,
    SampledBlocks,
    generator,
    plan_of,
    sample,
    sample_outside,
)
from apps.retrieval.enums import PoolMethod
from apps.retrieval.execution.budgets import positions_of, sample_budget, spend_budget
from apps.retrieval.execution.indexes import open_signatures
from apps.retrieval.execution.passage_location import found_blocks
from apps.retrieval.models import Pool, PoolEntry, Run
from apps.retrieval.selectors.question_sets import IDS_AT_ONCE
from apps.retrieval.selectors.snapshots import version_ids

FAR_DOWN = 100
NOTHING = np.zeros(0, dtype=np.int64)
COMPARED = 100_000
POOLED_AT_ONCE = 200
ROWS_AT_ONCE = 500


class SamplingFrame(NamedTuple):
    """Blocks of one query, as ascending positions: in the pool, on its edge, and ranked high by any run."""

    pooled: Ints
    edge: Ints
    high: Ints


def add_samples(pool: Pool, query_ids: Sequence[int], plan: PoolPlan, runs: Sequence[Run], versions: Ints) -> None:
    """Sample the blocks that each query still lacks under the plan. Blocks sampled before stay."""
    counts, pooled = _stored(pool, query_ids, versions)
    high = found_anywhere(runs, query_ids, max(FAR_DOWN, 10 * pool.depth)) if plan.easy else {}
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


def add_every(pool: Pool, query_ids: Sequence[int], versions: Ints, same: "SameTexts | None") -> None:
    """Add every block of the snapshot that a query does not have yet; with `same`, one text is judged once."""
    stored = list(PoolEntry.objects.filter(pool=pool, query__in=query_ids))
    known = {(entry.query_id, entry.version_id) for entry in stored}
    added = [
        PoolEntry(pool=pool, query_id=query, version_id=version, sampled={"how": EVERY})
        for query in query_ids
        for version in versions.tolist()
        if (query, version) not in known
    ]
    if same is not None:
        mark_same(stored, added, same)
    PoolEntry.objects.bulk_create(added, batch_size=ROWS_AT_ONCE)


def _sample(stratum: str, frame: SamplingFrame, blocks: int, count: int, rng: np.random.Generator) -> SampledBlocks:
    if stratum == EDGE:
        return sample(np.setdiff1d(frame.edge, frame.pooled, assume_unique=True), count, rng)
    without = {ALL: NOTHING, REST: frame.edge, EASY: frame.high}[stratum]
    return sample_outside(np.union1d(frame.pooled, without), blocks, count, rng)


def edge_of(plan: PoolPlan, query_ids: Sequence[int]) -> dict[int, Ints]:
    """By query, every block that the plan's edge runs found, in the pool or not; empty for a plan without an edge."""
    if not plan.edge:
        return {}
    runs = Run.objects.filter(pk__in=plan.edge_runs)
    return found_anywhere(list(runs), query_ids, None)


def found_anywhere(runs: Sequence[Run], query_ids: Sequence[int], depth: int | None) -> dict[int, Ints]:
    """By query, the positions that any of the runs found down to `depth` (None for all), ascending."""
    positions: dict[int, Ints] = {}
    for part in chunks(query_ids, IDS_AT_ONCE):
        found = found_blocks(runs, part, depth)
        pairs = np.unique(np.column_stack((found.query, found.position)), axis=0)
        queries, starts = np.unique(pairs[:, 0], return_index=True)
        positions |= zip(queries.tolist(), np.split(pairs[:, 1], starts[1:]), strict=False)  # no pairs are one part
    return positions


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


class SameTexts:
    """Finds the same texts in a snapshot. For jobs only: it builds the signatures when they are not on disk."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._minima = open_signatures(snapshot).minima
        versions = version_ids(snapshot)
        self._order = np.argsort(versions)
        self._sorted = versions[self._order]
        self._digests: dict[int, str] = {}
        self._resemblance = lru_cache(maxsize=COMPARED)(_resemblance)

    def representatives(self, judged: Sequence[int], new: Sequence[int]) -> dict[int, Representative]:
        """`core.pooling.representatives` for block versions of the snapshot. Call `read` with them first."""
        versions = [*judged, *new]
        positions = self._order[np.searchsorted(self._sorted, versions)]
        minima = dict(zip(versions, np.asarray(self._minima[positions]), strict=True))

        def alike(one: int, other: int) -> float:
            return self._resemblance(*sorted((one, other)))

        return representatives(judged, new, self._digests, minima, alike)

    def read(self, versions: Iterable[int]) -> None:
        """Read the digests of these block versions."""
        for part in chunks(sorted(set(versions) - self._digests.keys()), IDS_AT_ONCE):
            self._digests.update(BlockVersion.objects.filter(pk__in=part).values_list("pk", "text_digest"))


def _resemblance(one: int, other: int) -> float:
    texts = dict(BlockVersion.objects.filter(pk__in=[one, other]).values_list("pk", "text"))
    return resemblance(texts[one], texts[other])


def mark_same(stored: Iterable[PoolEntry], added: Sequence[PoolEntry], same: SameTexts) -> None:
    """Mark each added pair (given best first) when the same text is judged for its query.

    The stored pairs are not changed, since they may have been judged.
    """
    judged: dict[int, list[int]] = {}
    new: dict[int, list[PoolEntry]] = {}
    for entry in sorted(stored, key=lambda entry: entry.pk):
        if entry.sampled is None or entry.sampled["how"] in JUDGED:
            judged.setdefault(entry.query_id, []).append(entry.version_id)
    for entry in added:
        new.setdefault(entry.query_id, []).append(entry)
    same.read(version for query in new for version in judged.get(query, []))
    same.read(entry.version_id for entry in added)
    for query, entries in new.items():
        duplicates = same.representatives(judged.get(query, []), [entry.version_id for entry in entries])
        for entry in entries:
            if (original := duplicates.get(entry.version_id)) is not None:
                entry.sampled = {"how": SAME, "as": original.text, "exact": original.is_exact}


def collect_pairs(
    ctx: JobContext, pool: Pool, runs: Sequence[Run], query_ids: Sequence[int], on_part: Callable[[int], None]
) -> dict[str, Any]:
    """Write the pairs that the pool's plan chooses; returns the summary of the whole pool.

    `on_part` is called after each part with its number of queries.
    """
    plan = plan_of(pool.plan)
    versions = version_ids(pool.snapshot)
    same = SameTexts(pool.snapshot) if plan.same_once else None
    write = partial(write_entries, same=same)
    if plan.has_budget:
        spend = sample_budget if plan.method == PoolMethod.SAMPLE else spend_budget
        spend(ctx, pool, runs, query_ids, plan, write)
    parts, sampled = [], Counter[str]()
    for part in chunks(query_ids, POOLED_AT_ONCE):
        has_union = bool(runs) and not plan.has_budget
        union = pooling.union(found_blocks(runs, part, pool.depth), pool.depth) if has_union else None
        with ctx.chunk(f"pool:{part[0]}") as fresh:
            if fresh and union is not None:
                write(pool, part, union, versions)
            if fresh and plan.has_samples:
                add_samples(pool, part, plan, runs, versions)
            if fresh and plan.takes_every:
                add_every(pool, part, versions, same)
        if union is None or plan.has_sampled:
            union = stored_union(pool, part)
            sampled += sampled_counts(pool, part)
        parts.append((pooling.pairs_per_query(union, np.array(part)), pooling.overlap(union, _ids(runs))))
        on_part(len(part))
    summary = summary_of(parts, runs)
    return {**summary, "sampled": dict(sampled)} if plan.has_sampled else summary


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
