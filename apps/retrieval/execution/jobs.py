"""The jobs of this app: running systems, building pools and estimating what they miss, indexes, run files."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from apps.audit.actions import record
from apps.common.database.bulk import chunks
from apps.common.errors import InputErrors
from apps.corpus.models import Snapshot
from apps.jobs.enums import JobState
from apps.jobs.execution.context import JobContext, JobFailed
from apps.jobs.execution.periodic import periodic_task
from apps.jobs.models import Job, Upload
from apps.jobs.selectors.job_kinds import job_kind
from apps.retrieval import workflow
from apps.retrieval.core.pooling import Ints
from apps.retrieval.core.sampling import ALL, EDGE, RANDOM, REST, PoolPlan, Sampled, found_share, missing, plan_of
from apps.retrieval.enums import (
    DROP,
    ELSEWHERE,
    HELP,
    IMPORT_FILE,
    INDEX,
    LOAD,
    MISSING,
    READ_FILE,
    IndexState,
    PoolState,
    RunState,
    Step,
)
from apps.retrieval.execution import intake
from apps.retrieval.execution.budgets import positions_of
from apps.retrieval.execution.indexes import known_indexes, open_signatures, open_system, tidy_indexes, tidy_shared
from apps.retrieval.execution.intake import import_upload
from apps.retrieval.execution.loading import drop_loaded, fill_index
from apps.retrieval.execution.pool_building import NOTHING, collect_pairs, edge_of
from apps.retrieval.execution.ranking import Steps, answer_queries, help_with
from apps.retrieval.execution.remote_queries import send_queries
from apps.retrieval.execution.run_reading import reading_of, tidy_readings
from apps.retrieval.models import LoadedIndex, Pool, PoolEntry, Run
from apps.retrieval.selectors import pools
from apps.retrieval.selectors.pools import pool_query_ids, pool_runs, ranked_query_ids
from apps.retrieval.selectors.runs import runs_to_make
from apps.retrieval.selectors.snapshots import version_ids
from apps.retrieval.selectors.systems import indexed_in

QUERIES_AT_ONCE = 200


class MissingRelevanceLine(NamedTuple):
    """One stratum of one query: its blocks outside the pool, and how many were sampled, judged and relevant."""

    query: int
    stratum: str
    size: int
    sampled: int
    judged: int
    relevant: int


def estimate_missing(ctx: JobContext, pool: Pool) -> dict[str, Any]:
    """The value of `Pool.summary["missing"]`: the estimate and the pool's recall with intervals, and their counts.

    A sampled block that a run brought in later belongs to the pool and no longer to the sample; the rest is still a
    random sample of the blocks outside. Queries with sampled strata but no judged block are left out; `queries` and
    `of_queries` count all queries and those used.
    """
    plan, query_ids = plan_of(pool.plan), pool_query_ids(pool)
    grades = pools.grades_of(pool)
    versions = version_ids(pool.snapshot)
    lines: list[MissingRelevanceLine] = []
    relevant_inside: dict[int, int] = {}
    for done, part in enumerate(chunks(query_ids, QUERIES_AT_ONCE)):
        ctx.progress(done * QUERIES_AT_ONCE, len(query_ids), "counting sampled and judged passages")
        lines += lines_of(pool, part, plan, grades, versions, relevant_inside)
    sampled, judged = sum(line.sampled for line in lines), sum(line.judged for line in lines)
    counts: dict[str, Any] = {"sampled": sampled, "judged": judged, "queries": len(query_ids)}
    counts["relevant_from"] = pools.RELEVANT_FROM
    unjudged = {line.query for line in lines if line.size and not line.judged}
    judged_lines = [line for line in lines if line.query not in unjudged]
    counts["of_queries"] = len({line.query for line in judged_lines})
    if not any(line.judged for line in judged_lines):
        return counts
    used = [line for line in judged_lines if line.size]
    columns = zip(*((line.size, line.judged, line.relevant) for line in used), strict=True)
    outside = missing(Sampled(*(np.array(column, dtype=np.int64) for column in columns)))
    inside = sum(relevant_inside.get(query, 0) for query in {line.query for line in judged_lines})
    counts |= {"relevant": sum(line.relevant for line in used), "found": inside, "missing": list(outside)}
    return {**counts, "share": list(found_share(inside, outside)) if inside + outside.low > 0 else None}


def lines_of(
    pool: Pool,
    query_ids: Sequence[int],
    plan: PoolPlan,
    grades: Mapping[tuple[int, int], int],
    versions: Ints,
    relevant_inside: dict[int, int],
) -> list[MissingRelevanceLine]:
    """The strata of some queries. Adds the number of relevant blocks in the pool, by query, to `relevant_inside`."""
    inside: dict[int, list[int]] = {}
    sampled: dict[tuple[int, str], list[int]] = {}
    rows = PoolEntry.objects.filter(pool=pool, query__in=query_ids)
    for query, version, found_by, how in rows.values_list("query_id", "version_id", "found_by", "sampled").iterator():
        if how and how["how"] == RANDOM and not found_by:
            sampled.setdefault((query, how["stratum"]), []).append(version)
            continue
        inside.setdefault(query, []).append(version)
        if grades.get((query, version), -1) >= pools.RELEVANT_FROM:
            relevant_inside[query] = relevant_inside.get(query, 0) + 1
    edge = edge_of(plan, query_ids)
    lines = []
    for query in query_ids:
        pooled = positions_of(np.array(inside.get(query, []), dtype=np.int64), versions)
        sizes = sizes_outside(plan, pooled, edge.get(query, NOTHING), len(versions))
        for stratum, size in sizes.items():
            block_ids = sampled.get((query, stratum), [])
            known = [grades[query, version] for version in block_ids if (query, version) in grades]
            relevant = sum(grade >= pools.RELEVANT_FROM for grade in known)
            lines.append(MissingRelevanceLine(query, stratum, size, len(block_ids), len(known), relevant))
    return lines


def sizes_outside(plan: PoolPlan, pooled: Ints, edge: Ints, blocks: int) -> dict[str, int]:
    """How many blocks each stratum of the plan has outside the pool; `pooled` and `edge` are positions."""
    at_edge = len(np.setdiff1d(edge, pooled))
    sizes = {ALL: blocks - len(pooled), EDGE: at_edge, REST: blocks - len(pooled) - at_edge}
    return {stratum: sizes[stratum] for stratum in plan.strata}


def follow_job(job: Job, at: datetime) -> None:
    """Change the state of the job's runs, pools and loaded index when it fails, is cancelled, or is queued again."""
    followers: tuple[Any, ...] = (
        (Run, RunState.PENDING, RunState.FAILED, workflow.move_run),
        (Pool, PoolState.PENDING, PoolState.FAILED, workflow.move_pool),
        (LoadedIndex, IndexState.LOADING, IndexState.FAILED, workflow.move_index),
    )
    for model, pending, failed, move in followers:
        if job.state in {JobState.FAILED, JobState.CANCELLED}:
            reason = job.error or "It was cancelled."
            for pk in model.objects.filter(job=job, state=pending).values_list("pk", flat=True):
                move(pk, Step.FAIL, actor=None, at=at, failure=reason)
        elif job.state == JobState.QUEUED:
            for pk in model.objects.filter(job=job, state=failed).values_list("pk", flat=True):
                move(pk, Step.RESUME, actor=None, at=at, failure="")


@job_kind("retrieval.run", title="Run a system", follower=follow_job, page=("retrieval:run", "run_id"))
def run_system(ctx: JobContext) -> dict[str, Any]:
    """Rank the queries `query_ids` with the system of the run `run_id`, after its components."""
    run = _run(ctx.params["run_id"])
    make_runs(ctx, runs_to_make(run), ctx.params["query_ids"])
    return {"run_id": run.pk}


def make_runs(ctx: JobContext, runs: Sequence[Run], query_ids: Sequence[int], more_steps: int = 0) -> Steps:
    """Make the runs one after the other; returns the progress, whose total includes `more_steps` of the caller."""
    steps = Steps(ctx, len(query_ids) * len(runs) + more_steps)
    for run in runs:
        make_run(ctx, run, query_ids, steps)
    return steps


def make_run(ctx: JobContext, run: Run, query_ids: Sequence[int], steps: Steps) -> None:
    """Answer the queries of a pending run and complete it."""
    make = send_queries if run.system.kind in ELSEWHERE else answer_queries
    make(ctx, run, query_ids, steps)


@job_kind(HELP, title="Help with a run", page=("retrieval:run", "run_id"))
def help_run(ctx: JobContext) -> dict[str, Any]:
    """Rank queries of the run `run_id`, as helper `number` of the job `job_id`."""
    run = _run(ctx.params["run_id"])
    main_job = Job.objects.get(pk=ctx.params["job_id"])
    if run.state == RunState.PENDING:
        help_with(ctx, run, _query_ids(main_job), ctx.params["number"])
    return {"run_id": run.pk}


def _run(pk: int) -> Run:
    return Run.objects.select_related("system", "snapshot", "project").get(pk=pk)


def _query_ids(job: Job) -> list[int]:
    """The query ids of a job that makes runs, in its order."""
    if "query_ids" in job.params:
        return list(job.params["query_ids"])
    return ranked_query_ids(Pool.objects.get(pk=job.params["pool_id"]))


@job_kind("retrieval.pool", title="Build a pool", follower=follow_job, page=("retrieval:pool", "pool_id"))
def build_pool(ctx: JobContext) -> dict[str, Any]:
    """Make the pending runs of the pool `pool_id`, then write its pairs."""
    pool = Pool.objects.select_related("snapshot").get(pk=ctx.params["pool_id"])
    query_ids, runs = pool_query_ids(pool), pool_runs(pool)
    if failed := [run for run in runs if run.state == RunState.FAILED]:
        raise JobFailed(f"The run {failed[0].tag} failed: {failed[0].failure}")
    missing = {part.pk: part for run in runs for part in runs_to_make(run)}
    steps = make_runs(ctx, list(missing.values()), ranked_query_ids(pool), more_steps=len(query_ids))
    summary = collect_pairs(ctx, pool, runs, query_ids, lambda queries: steps.add(queries, "collecting pairs"))
    with ctx.finish() as result:
        changes = {"entry_count": summary["pairs"], "summary": summary, "completed_at": ctx.at, "failure": ""}
        built = workflow.move_pool(pool.pk, Step.COMPLETE, actor=ctx.actor, at=ctx.at, **changes)
        if then := ctx.params.get("then"):
            assert ctx.actor is not None  # every pool is built for a person
            refusals = [follow(built, then, ctx.actor, ctx.at) for follow in pools.after_pooling]
            built.summary = {**built.summary, "refusal": " ".join(filter(None, refusals))}
            built.save(update_fields=["summary"])
        result.update(pool_id=pool.pk, pairs=summary["pairs"])
    return ctx.result


@job_kind(MISSING, title="Estimate what a pool misses", page=("retrieval:pool", "pool_id"))
def run_missing_estimate(ctx: JobContext) -> dict[str, Any]:
    """Estimate what the pool `pool_id` misses, and store it in the pool's summary unless the pool has grown."""
    before = Pool.objects.select_related("snapshot").get(pk=ctx.params["pool_id"])
    estimate = {**estimate_missing(ctx, before), "at": ctx.at.isoformat()}
    with ctx.finish() as result:
        pool = Pool.objects.select_for_update(of=("self",)).select_related("project").get(pk=before.pk)
        if pool.state == PoolState.COMPLETE and pool.completed_at == before.completed_at:
            pool.summary = {**pool.summary, "missing": estimate}
            pool.save(update_fields=["summary"])
        record(project=pool.project, actor=ctx.actor, action="pool.estimated", obj=pool, after=estimate, at=ctx.at)
        result.update(pool_id=pool.pk, judged=estimate["judged"], sampled=estimate["sampled"])
    return ctx.result


@job_kind(INDEX, title="Index a snapshot", page=("corpus:snapshot", "snapshot_id"))
def index_snapshot(ctx: JobContext) -> dict[str, Any]:
    """Build the missing indexes of the project's systems on the snapshot `snapshot_id`, and its signatures."""
    snapshot = Snapshot.objects.select_related("corpus__project").get(pk=ctx.params["snapshot_id"])
    systems = list(indexed_in(snapshot.corpus.project))
    for done, system in enumerate(systems):
        ctx.progress(done, len(systems) + 1, f"indexing the passages for {system.name}")
        open_system(system, snapshot)
    ctx.progress(len(systems), len(systems) + 1, "looking for near-duplicates")
    open_signatures(snapshot)
    return {"snapshot_id": snapshot.pk, "systems": len(systems)}


@job_kind(
    LOAD, title="Load a snapshot into a search server", follower=follow_job, page=("retrieval:loaded-index", "index_id")
)
def load_snapshot(ctx: JobContext) -> dict[str, Any]:
    """Create and fill the index `index_id`, from the last piece that was noted on, and check it."""
    index = _index(ctx, IndexState.LOADING)
    digests = fill_index(ctx, index)
    with ctx.finish() as result:
        workflow.move_index(index.pk, Step.COMPLETE, actor=ctx.actor, at=ctx.at, ready_at=ctx.at, failure="")
        result.update(index_id=index.pk, passages=index.snapshot.block_count, compared=digests)
    return ctx.result


@job_kind(DROP, title="Drop a loaded index")
def drop_index(ctx: JobContext) -> dict[str, Any]:
    """Delete the index `index_id` from its server, by its exact name."""
    index = _index(ctx, IndexState.READY, IndexState.FAILED)
    drop_loaded(ctx, index)
    with ctx.finish() as result:
        workflow.move_index(index.pk, Step.DROP, actor=ctx.actor, at=ctx.at, dropped_at=ctx.at)
        result.update(index_id=index.pk)
    return ctx.result


def _index(ctx: JobContext, *states: IndexState) -> LoadedIndex:
    """The index of the job. Raises JobFailed when another job has taken it over."""
    index = LoadedIndex.objects.select_related("project", "snapshot", "dense").get(pk=ctx.params["index_id"])
    if index.job_id != ctx.job_id or index.state not in states:
        raise JobFailed(f"{index.name} is {index.get_state_display()}, and a later job works on it.")
    return index


@job_kind(READ_FILE, title="Read a run file", page=("retrieval:preview", "upload_id"))
def read_run_file(ctx: JobContext) -> dict[str, Any]:
    """Read the run file `upload_id` for its preview; the result has its figures and mistakes."""
    upload = _upload(ctx)
    return intake.facts_of_draft(upload, reading_of(upload, partial(_report_rows, ctx)))


@job_kind(IMPORT_FILE, title="Import a run file", page=("retrieval:preview", "upload_id"))
def import_run_file(ctx: JobContext) -> dict[str, Any]:
    """Import the run file `upload_id` as it was read, completely or not at all.

    With mistakes nothing is imported, and the result is that of `read_run_file`.
    """
    upload = _upload(ctx)
    assert ctx.actor is not None  # every upload is from a person or with a person's token
    draft = reading_of(upload, partial(_report_rows, ctx))
    skip = ctx.params["skip_unknown"]
    try:
        with ctx.finish() as result:
            imported = import_upload(upload=upload, draft=draft, skip_unknown=skip, actor=ctx.actor, at=ctx.at)
            result.update(run_id=imported.run.pk, is_new=imported.is_new, skipped_rows=draft.skipped)
    except InputErrors:
        with ctx.finish() as result:
            result.update(intake.facts_of_draft(upload, draft))
    return ctx.result


def _upload(ctx: JobContext) -> Upload:
    return Upload.objects.select_related("project").get(pk=ctx.params["upload_id"])


def _report_rows(ctx: JobContext, rows: int) -> None:
    ctx.progress(rows, text=f"{rows:,} rows read")


@periodic_task("retrieval.indexes", every=timedelta(hours=1))
def remove_unused_indexes(at: datetime) -> None:
    tidy_indexes(at)
    tidy_shared(known_indexes(), at)


@periodic_task("retrieval.readings", every=timedelta(hours=1))
def remove_old_readings(at: datetime) -> None:
    tidy_readings(at)
