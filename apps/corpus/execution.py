"""The slow half of imports: files too large to be read, or taken in, while a person waits for the page."""

from datetime import datetime
from typing import Any

from apps.common.errors import InputErrors
from apps.corpus.enums import ImportState
from apps.corpus.importing import steps
from apps.corpus.importing.reading import preview
from apps.corpus.models import Import
from apps.jobs.context import JobContext
from apps.jobs.enums import JobState
from apps.jobs.models import Job
from apps.jobs.registry import job_kind

READ = "corpus.read_import"
APPLY = "corpus.apply_import"


def follow_import(job: Job, at: datetime) -> None:
    """The import learns how its job fares: failed and cancelled end it, a retry takes it up again."""
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
        steps.keep_plan(import_id=item.pk, plan=plan)
        result.update(rows=plan["rows"], errors=plan["errors_total"])
    return None


@job_kind(APPLY, title="Import a file", follower=follow_import)
def apply_import(ctx: JobContext) -> dict[str, Any] | None:
    item = _import(ctx)
    assert ctx.actor is not None  # a person confirmed it
    try:
        with ctx.finish() as result:
            applied = steps.apply_import(import_id=item.pk, actor=ctx.actor, at=ctx.at)
            result.update(applied.result["counts"])
    except InputErrors as errors:
        with ctx.finish() as result:
            steps.note_faults(import_id=item.pk, errors=errors)
            result.update(errors=len(errors.errors))
    return None


def _import(ctx: JobContext) -> Import:
    return Import.objects.select_related("upload", "project").get(pk=ctx.params["import_id"])
