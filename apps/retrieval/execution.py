"""The slow work: running systems and building pools, in parts that each take effect exactly once."""

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
from django.conf import settings

from apps.common.bulk import insert_rows
from apps.common.digests import digest_of, digest_of_lines, sha256_hex
from apps.corpus.models import Snapshot
from apps.jobs.context import JobContext, JobFailed
from apps.jobs.enums import JobState
from apps.jobs.models import Job
from apps.jobs.registry import job_kind
from apps.retrieval import pooling, ranking, selectors, workflow
from apps.retrieval.engines import Engine, Found, make
from apps.retrieval.engines.store import open_index
from apps.retrieval.enums import PoolState, RunState, Step
from apps.retrieval.models import Pool, PoolEntry, Ranking, Run, System

QUERIES_AT_ONCE = 100
POOLED_AT_ONCE = 200
ROWS_AT_ONCE = 500


def follow_job(job: Job, at: datetime) -> None:
    """Move the runs and pools that wait for a job when it fails, is cancelled, or runs again."""
    waiting: tuple[Any, ...] = (
        (Run, RunState, workflow.move_run),
        (Pool, PoolState, workflow.move_pool),
    )
    for model, states, move in waiting:
        if job.state in {JobState.FAILED, JobState.CANCELLED}:
            why = job.error or "It was cancelled."
            for pk in model.objects.filter(job=job, state=states.PENDING).values_list("pk", flat=True):
                move(pk, Step.FAIL, actor=None, at=at, failure=why)
        elif job.state == JobState.QUEUED:
            for pk in model.objects.filter(job=job, state=states.FAILED).values_list("pk", flat=True):
                move(pk, Step.RESUME, actor=None, at=at, failure="")


@job_kind("retrieval.run", title="Run a system", follower=follow_job)
def run_system(ctx: JobContext) -> dict[str, Any]:
    """Answer the queries `query_ids` with the system of the run `run_id`."""
    run = Run.objects.select_related("system", "snapshot").get(pk=ctx.params["run_id"])
    query_ids = ctx.params["query_ids"]
    if run.state == RunState.PENDING:
        answer_queries(ctx, run, query_ids, Steps(ctx, len(query_ids)))
    return {"run_id": run.pk}


@job_kind("retrieval.pool", title="Build a pool", follower=follow_job)
def build_pool(ctx: JobContext) -> dict[str, Any]:
    """Make the runs that the pool `pool_id` still lacks, then write the union of all."""
    pool = Pool.objects.select_related("snapshot").get(pk=ctx.params["pool_id"])
    query_ids, runs = selectors.pool_query_ids(pool), selectors.pool_runs(pool)
    if broken := [run for run in runs if run.state == RunState.FAILED]:
        raise JobFailed(f"The run {broken[0].tag} failed: {broken[0].failure}")
    missing = [run for run in runs if run.state == RunState.PENDING]
    steps = Steps(ctx, len(query_ids) * (len(missing) + 1))
    for run in missing:
        answer_queries(ctx, run, query_ids, steps)
    summary = collect_pairs(ctx, pool, runs, query_ids, steps)
    with ctx.finish() as result:
        changes = {"entry_count": summary["pairs"], "summary": summary, "completed_at": ctx.at, "failure": ""}
        workflow.move_pool(pool.pk, Step.COMPLETE, actor=ctx.actor, at=ctx.at, **changes)
        result.update(pool_id=pool.pk, pairs=summary["pairs"])
    return ctx.result


class Steps:
    """Progress over all the parts of one job, counted in queries."""

    def __init__(self, ctx: JobContext, total: int) -> None:
        self.ctx = ctx
        self.total = total
        self.done = 0

    def take(self, queries: int, text: str) -> None:
        self.done += queries
        self.ctx.progress(self.done, self.total, text)


def answer_queries(ctx: JobContext, run: Run, query_ids: Sequence[int], steps: Steps) -> None:
    """Rank the queries that have no ranking yet, part by part, and complete the run."""
    answered = selectors.ranked_queries(run.pk)
    engine, handle = engine_of(run.system), None
    for part in selectors.batches(query_ids, QUERIES_AT_ONCE):
        if not answered.issuperset(part):
            handle = handle or open_system(run.system, run.snapshot)
            found = engine.search(handle, selectors.query_texts(part), run.depth)
            with ctx.chunk(f"run:{run.pk}:{part[0]}") as fresh:
                if fresh:
                    write_rankings(run, part, found)
        steps.take(len(part), f"{run.system.name} answers the queries")
    with ctx.chunk(f"run:{run.pk}:complete") as fresh:
        if fresh:
            complete_run(run, actor=ctx.actor, at=ctx.at)


def engine_of(system: System) -> Engine:
    """The engine that a system's configuration describes."""
    return make(system.kind, system.config["engine"])


def open_system(system: System, snapshot: Snapshot) -> Any:
    """The system's index of the snapshot, built when it is not on disk yet."""
    digest = digest_of([system.digest, snapshot.digest])
    root = Path(settings.DATA_DIR) / "indexes"
    words = system.config["words"]
    return open_index(root, digest, engine_of(system), lambda: selectors.block_texts(snapshot, words))


def write_rankings(run: Run, query_ids: Sequence[int], found: Found) -> None:
    """One row a query, an empty one where nothing was found."""
    rows = []
    for number, query_id in enumerate(query_ids):
        positions, scores = found.of(number)
        milliseconds = float(found.seconds[number]) * 1000
        rows.append((run.pk, query_id, ranking.pack(positions, scores), len(positions), milliseconds))
    insert_rows(Ranking, ("run_id", "query_id", "packed", "length", "latency_ms"), rows)


def complete_run(run: Run, *, actor: Any, at: datetime) -> Run:
    """Seal a run: count it, take its digest and its latencies. Nothing about its rankings changes afterwards."""
    rows = Ranking.objects.filter(run=run).values_list("query__outside_id", "packed", "latency_ms")
    lines, times = [], []
    for outside_id, packed, latency in rows.iterator(chunk_size=ROWS_AT_ONCE):
        lines.append((outside_id, sha256_hex(bytes(packed))))
        if latency is not None:
            times.append(latency)
    digest = rankings_digest(run.snapshot.digest, lines)
    summary = latency_summary(times)
    changes = {"digest": digest, "query_count": len(lines), "latency": summary, "completed_at": at, "failure": ""}
    return workflow.move_run(run.pk, Step.COMPLETE, actor=actor, at=at, **changes)


def rankings_digest(snapshot_digest: str, lines: Sequence[tuple[str, str]]) -> str:
    """SHA-256 over the snapshot's digest and, by outside id bytewise, each query with its packed ranking's."""
    ordered = sorted(lines, key=lambda line: line[0].encode())
    return digest_of_lines([snapshot_digest, *(f"{query}\t{digest}" for query, digest in ordered)])


def latency_summary(times: Sequence[float]) -> dict[str, float]:
    """Percentiles (linear between neighbours) and mean in milliseconds; empty when no query was timed."""
    if not times:
        return {}
    p50, p95, p99 = np.percentile(times, [50, 95, 99])
    values = {"p50": p50, "p95": p95, "p99": p99, "mean": np.mean(times)}
    return {key: round(float(value), 4) for key, value in values.items()}


def collect_pairs(
    ctx: JobContext, pool: Pool, runs: Sequence[Run], query_ids: Sequence[int], steps: Steps
) -> dict[str, Any]:
    """Write the pool's pairs part by part; returns the summary of the whole."""
    versions = selectors.version_ids(pool.snapshot)
    parts = []
    for part in selectors.batches(query_ids, POOLED_AT_ONCE):
        found = union_of(runs, part, pool.depth)
        with ctx.chunk(f"pool:{part[0]}") as fresh:
            if fresh:
                write_entries(pool, part, found, versions)
        parts.append((pooling.pairs_per_query(found, np.array(part)), pooling.overlap(found, _ids(runs))))
        steps.take(len(part), "collecting pairs")
    return summary_of(parts, runs)


def union_of(runs: Sequence[Run], query_ids: Sequence[int], depth: int) -> pooling.Union:
    rows = Ranking.objects.filter(run__in=runs, query__in=query_ids).values_list("run_id", "query_id", "packed")
    tops = ((run, query, ranking.unpack(bytes(packed))[0][:depth]) for run, query, packed in rows.iterator())
    return pooling.union(pooling.columns(tops), depth)


def write_entries(pool: Pool, query_ids: Sequence[int], found: pooling.Union, versions: np.ndarray) -> None:
    """Add the pairs the pool lacks; pairs it has learn which runs found them too."""
    stored = {
        (entry.query_id, entry.version_id): entry for entry in PoolEntry.objects.filter(pool=pool, query__in=query_ids)
    }
    added, known = [], []
    finders = np.stack([found.run, found.rank], axis=1).tolist()
    pairs = zip(found.query.tolist(), versions[found.position].tolist(), strict=True)
    for number, (query_id, version_id) in enumerate(pairs):
        found_by = finders[found.offsets[number] : found.offsets[number + 1]]
        entry = stored.get((query_id, version_id))
        if entry is None:
            added.append(PoolEntry(pool=pool, query_id=query_id, version_id=version_id, found_by=found_by))
        elif entry.found_by != found_by:
            entry.found_by = found_by
            known.append(entry)
    PoolEntry.objects.bulk_create(added, batch_size=ROWS_AT_ONCE)
    PoolEntry.objects.bulk_update(known, ["found_by"], batch_size=ROWS_AT_ONCE)


def summary_of(parts: Sequence[tuple[pooling.Ints, pooling.Overlap]], runs: Sequence[Run]) -> dict[str, Any]:
    """What the pool's page tells: pairs per query, and how the runs overlap, as plain JSON values."""
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
    """The tables added up, cell by cell; empty for none."""
    if not tables:
        return []
    return list(np.asarray(np.sum(tables, axis=0, dtype=np.int64)).tolist())


def _ids(runs: Sequence[Run]) -> pooling.Ints:
    return np.array(sorted(run.pk for run in runs), dtype=np.int64)
