"""The slow work: running systems and building pools, in parts that each take effect exactly once."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from apps.audit.actions import record
from apps.common.errors import InputErrors
from apps.corpus.models import Snapshot
from apps.jobs.enums import JobState
from apps.jobs.execution.context import JobContext, JobFailed
from apps.jobs.execution.periodic import periodic_task
from apps.jobs.models import Job, Upload
from apps.jobs.selectors.job_kinds import job_kind
from apps.retrieval import selectors, workflow
from apps.retrieval.enums import ASKED, HELP, INDEX, MISSING, READ_FILE, TAKE_FILE, PoolState, RunState, Step
from apps.retrieval.execution import intake
from apps.retrieval.execution.answers import Steps, answer_queries, help_with
from apps.retrieval.execution.indexes import open_signatures, open_system, tidy_indexes
from apps.retrieval.execution.intake import import_upload
from apps.retrieval.execution.missing_relevance import estimate_missing
from apps.retrieval.execution.pool_building import collect_pairs
from apps.retrieval.execution.remote_queries import ask_queries
from apps.retrieval.execution.run_reading import reading_of, tidy_readings
from apps.retrieval.models import Pool, Run


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
    run = _run(ctx.params["run_id"])
    make_runs(ctx, selectors.to_make(run), ctx.params["query_ids"])
    return {"run_id": run.pk}


def make_runs(ctx: JobContext, runs: Sequence[Run], query_ids: Sequence[int], beyond: int = 0) -> Steps:
    """Make the runs one after the other; returns the steps, with room for the queries `beyond` them."""
    steps = Steps(ctx, len(query_ids) * len(runs) + beyond)
    for run in runs:
        make = ask_queries if run.system.kind in ASKED else answer_queries
        make(ctx, run, query_ids, steps)
    return steps


@job_kind(HELP, title="Help with a run")
def help_run(ctx: JobContext) -> dict[str, Any]:
    """Answer queries of the run `run_id` beside the job `job_id`, as its helper `number`."""
    run = _run(ctx.params["run_id"])
    asked = Job.objects.get(pk=ctx.params["job_id"])
    if run.state == RunState.PENDING:
        help_with(ctx, run, _query_ids(asked), ctx.params["number"])
    return {"run_id": run.pk}


def _run(pk: int) -> Run:
    return Run.objects.select_related("system", "snapshot", "project").get(pk=pk)


def _query_ids(job: Job) -> list[int]:
    """The queries of a job that makes runs, as it goes through them."""
    if "query_ids" in job.params:
        return list(job.params["query_ids"])
    return selectors.pool_query_ids(Pool.objects.get(pk=job.params["pool_id"]))


@job_kind("retrieval.pool", title="Build a pool", follower=follow_job)
def build_pool(ctx: JobContext) -> dict[str, Any]:
    """Make the runs that the pool `pool_id` still lacks, then write the union of all."""
    pool = Pool.objects.select_related("snapshot").get(pk=ctx.params["pool_id"])
    query_ids, runs = selectors.pool_query_ids(pool), selectors.pool_runs(pool)
    if broken := [run for run in runs if run.state == RunState.FAILED]:
        raise JobFailed(f"The run {broken[0].tag} failed: {broken[0].failure}")
    missing = {part.pk: part for run in runs for part in selectors.to_make(run)}
    steps = make_runs(ctx, list(missing.values()), query_ids, beyond=len(query_ids))
    summary = collect_pairs(ctx, pool, runs, query_ids, lambda queries: steps.take(queries, "collecting pairs"))
    with ctx.finish() as result:
        changes = {"entry_count": summary["pairs"], "summary": summary, "completed_at": ctx.at, "failure": ""}
        workflow.move_pool(pool.pk, Step.COMPLETE, actor=ctx.actor, at=ctx.at, **changes)
        result.update(pool_id=pool.pk, pairs=summary["pairs"])
    return ctx.result


@job_kind(MISSING, title="Estimate what a pool misses")
def tell_missing(ctx: JobContext) -> dict[str, Any]:
    """Estimate what the pool `pool_id` misses and keep it in the pool's summary, unless it has grown meanwhile."""
    seen = Pool.objects.select_related("snapshot").get(pk=ctx.params["pool_id"])
    told = {**estimate_missing(ctx, seen), "at": ctx.at.isoformat()}
    with ctx.finish() as result:
        pool = Pool.objects.select_for_update(of=("self",)).select_related("project").get(pk=seen.pk)
        if pool.state == PoolState.COMPLETE and pool.completed_at == seen.completed_at:
            pool.summary = {**pool.summary, "missing": told}
            pool.save(update_fields=["summary"])
        record(project=pool.project, actor=ctx.actor, action="pool.estimated", obj=pool, after=told, at=ctx.at)
        result.update(pool_id=pool.pk, judged=told["judged"], sampled=told["sampled"])
    return ctx.result


@job_kind(INDEX, title="Index a snapshot")
def index_snapshot(ctx: JobContext) -> dict[str, Any]:
    """Build the index of every engine of the project on the snapshot `snapshot_id`, and what tells near-duplicates.

    Whatever is on disk already stays as it is.
    """
    snapshot = Snapshot.objects.select_related("corpus__project").get(pk=ctx.params["snapshot_id"])
    systems = list(selectors.indexed_in(snapshot.corpus.project))
    for done, system in enumerate(systems):
        ctx.progress(done, len(systems) + 1, f"{system.name} reads the passages")
        open_system(system, snapshot)
    ctx.progress(len(systems), len(systems) + 1, "looking for near-duplicates")
    open_signatures(snapshot)
    return {"snapshot_id": snapshot.pk, "systems": len(systems)}


@job_kind(READ_FILE, title="Read a run file")
def read_file(ctx: JobContext) -> dict[str, Any]:
    """Say what the run file `upload_id` would come to; the result holds its figures and mistakes."""
    kept = _upload(ctx)
    return intake.facts_of_draft(kept, reading_of(kept, partial(_tell_rows, ctx)))


@job_kind(TAKE_FILE, title="Import a run file")
def take_file(ctx: JobContext) -> dict[str, Any]:
    """Take in the run file `upload_id` as it was read, whole or not at all.

    With mistakes nothing is taken in, and the result is what a look at the file gives.
    """
    kept = _upload(ctx)
    assert ctx.actor is not None  # a person or a machine of theirs handed it in
    draft = reading_of(kept, partial(_tell_rows, ctx))
    skip = ctx.params["skip_unknown"]
    try:
        with ctx.finish() as result:
            taken = import_upload(upload=kept, draft=draft, skip_unknown=skip, actor=ctx.actor, at=ctx.at)
            result.update(run_id=taken.run.pk, is_new=taken.is_new, skipped_rows=draft.skipped)
    except InputErrors:
        with ctx.finish() as result:
            result.update(intake.facts_of_draft(kept, draft))
    return ctx.result


def _upload(ctx: JobContext) -> Upload:
    return Upload.objects.select_related("project").get(pk=ctx.params["upload_id"])


def _tell_rows(ctx: JobContext, rows: int) -> None:
    ctx.progress(rows, text=f"{rows:,} rows read")


@periodic_task("retrieval.indexes", every=timedelta(hours=1))
def tidy_up(at: datetime) -> None:
    tidy_indexes(at)


@periodic_task("retrieval.readings", every=timedelta(hours=1))
def tidy_uploads(at: datetime) -> None:
    tidy_readings(at)
