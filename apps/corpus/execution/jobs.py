"""Jobs for files too large to read or apply, and corpora too large to freeze, in a request."""

from datetime import datetime
from typing import Any

from apps.common.errors import InputErrors
from apps.corpus.enums import FREEZE, ImportState
from apps.corpus.execution import import_steps
from apps.corpus.execution.freezing import freeze_snapshot
from apps.corpus.execution.import_reading import prepared, preview
from apps.corpus.execution.search_index import index_part, parts_of
from apps.corpus.models import Corpus, Import
from apps.corpus.selectors.snapshots import current_blocks
from apps.jobs.enums import JobState
from apps.jobs.execution.context import JobContext
from apps.jobs.models import Job
from apps.jobs.selectors.job_kinds import job_kind

READ = "corpus.read_import"
APPLY = "corpus.apply_import"


def follow_import(job: Job, at: datetime) -> None:
    """Update the import when its job fails, is cancelled or is retried."""
    waiting = ImportState.READING if job.kind == READ else ImportState.APPLYING
    imports = Import.objects.filter(pk=job.params["import_id"])
    if job.state in {JobState.FAILED, JobState.CANCELLED}:
        reason = job.error or "The job was cancelled."
        imports.filter(state=waiting).update(state=ImportState.FAILED, failure=reason)
    elif job.state in {JobState.QUEUED, JobState.RUNNING}:
        imports.filter(state=ImportState.FAILED).update(state=waiting, failure="")


@job_kind(READ, title="Read a file", follower=follow_import)
def read_import(ctx: JobContext) -> dict[str, Any] | None:
    item = _import(ctx)
    plan = preview(item, progress=lambda done: ctx.progress(done, text=f"{done:,} rows read"))
    with ctx.finish() as result:
        import_steps.keep_plan(import_id=item.pk, plan=plan, options=item.options)
        result.update(rows=plan["rows"], errors=plan["errors_total"])
    return None


@job_kind(APPLY, title="Import a file", follower=follow_import)
def apply_import(ctx: JobContext) -> dict[str, Any] | None:
    item = _import(ctx)
    assert ctx.actor is not None  # a person confirmed it
    at = ctx.at
    try:
        with prepared(item, actor=ctx.actor, at=at) as made, ctx.finish() as result:
            applied = import_steps.apply_import(import_id=item.pk, actor=ctx.actor, at=at, prepared=made)
            result.update(applied.result["counts"])
    except InputErrors as errors:
        with ctx.finish() as result:
            import_steps.note_faults(import_id=item.pk, errors=errors)
            result.update(errors=len(errors.errors))
    return None


@job_kind(FREEZE, title="Freeze a snapshot")
def freeze_corpus(ctx: JobContext) -> dict[str, Any] | None:
    """Index the texts of the corpus `corpus_id` for search, part by part, then freeze it in one short commit.

    Search shows only texts of snapshots, so a job that ends in between has no visible effect.
    """
    corpus = Corpus.objects.get(pk=ctx.params["corpus_id"])
    assert ctx.actor is not None  # requested by a person, or by a person's token
    total, done = current_blocks(corpus).count(), 0
    for part in parts_of(corpus):
        with ctx.chunk(f"words:{part.first}") as fresh:
            if fresh:
                index_part(part)
        done += part.blocks
        ctx.progress(done, total, "passages indexed for search")
    with ctx.finish() as result:
        snapshot = freeze_snapshot(
            corpus_id=corpus.pk, actor=ctx.actor, at=ctx.at, name=ctx.params["name"], job_id=ctx.job_id
        )
        result.update(snapshot_id=snapshot.pk, blocks=snapshot.block_count)
    return None


def _import(ctx: JobContext) -> Import:
    return Import.objects.select_related("upload", "project").get(pk=ctx.params["import_id"])
