"""Backups by a worker, at the times that the settings say; and the deletion of a project.

A project goes in a job: its files, then its rows part by part, then the project itself. Each part is one short
transaction, so that nobody waits long for it. A job that is killed leaves a project with fewer rows, which stays closed
to everybody: its deletion is on record, and the next job continues it.
"""

import logging
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime, timedelta
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import connection, transaction

from apps.accounts.models import ProjectDeletion
from apps.audit.actions import record
from apps.audit.execution import signed_checkpoints
from apps.audit.execution.sealing import GENESIS, chain_name, seal_all
from apps.audit.models import Chain
from apps.backups.enums import BACK_UP, DELETE_PROJECT
from apps.backups.execution.making import make_backup, note_backup, note_removed, remove_oldest
from apps.backups.execution.places import place_of
from apps.backups.execution.verification import scratch_beside, verify_backup
from apps.backups.selectors.backups import is_due, standing
from apps.backups.selectors.project_rows import PROJECTS, ProjectTable, key_ranges, mutual_references, project_tables
from apps.common.discovery import later
from apps.common.errors import Refusal
from apps.common.files import store
from apps.corpus.execution.search_index import forget_versions
from apps.jobs.enums import DeliveryKind, JobState, ServerEvent
from apps.jobs.execution.context import JobContext, JobFailed
from apps.jobs.execution.outbox import post_to_operators
from apps.jobs.execution.periodic import periodic_task
from apps.jobs.models import Job, Outbox, Upload
from apps.jobs.selectors.job_kinds import job_kind

TOLD_AGAIN_AFTER = timedelta(days=1)

log = logging.getLogger(__name__)

enqueue = later("apps.jobs.actions.jobs.enqueue")


@periodic_task("backups.schedule", every=timedelta(minutes=10))
def schedule(at: datetime) -> None:
    """Queue a backup when the last one is old enough, unless one is waiting or running."""
    if settings.BACKUP_TO and is_due(at):
        enqueue(kind=BACK_UP, params={}, project=None, actor=None, at=at)


@periodic_task("backups.warn", every=timedelta(hours=1))
def warn(at: datetime) -> None:
    """Tell the operators' webhook what their pages say, once a day until the next good backup."""
    lately = Outbox.objects.filter(kind=DeliveryKind.WEBHOOK, project=None, created_at__gt=at - TOLD_AGAIN_AFTER)
    if not settings.WEBHOOK or lately.filter(payload__body__type=ServerEvent.BACKUP).exists():
        return
    if sentence := standing(at).notice:
        post_to_operators(event=ServerEvent.BACKUP, facts={"sentence": sentence}, at=at)


def log_failure(job: Job, at: datetime) -> None:
    """Log a backup that has failed, however it ended: who watches the log may not look at pages."""
    if job.state == JobState.FAILED:
        transaction.on_commit(partial(log.error, "The scheduled backup failed: %s", job.error))


@job_kind(BACK_UP, title="Make a backup", follower=log_failure)
def back_up(ctx: JobContext) -> dict[str, Any] | None:
    """Make a backup in the folder of the settings, on a disk or in a bucket, verify it, and remove the oldest ones.

    An attempt that was killed may leave a file without a record, which counts among those that are kept. Nothing is
    removed before the new one is verified.
    """
    folder, at = place_of(settings.BACKUP_TO), ctx.at
    if isinstance(folder, Path) and not folder.is_dir():
        raise JobFailed(f"The folder {folder} is not there. Make it, or set KARAT_BACKUP_TO to another one.")
    try:
        backup = make_backup(folder, at=at, progress=lambda what, done, total: ctx.progress(done, total, what))
        verify_backup(backup.path, scratch=scratch_beside(backup.path))
    except Refusal as refusal:
        raise JobFailed(refusal.sentence) from refusal
    with ctx.finish() as result:
        made = note_backup(backup=backup, at=at, job_id=ctx.job_id, is_verified=True)
        result["backup"] = made.pk
    with suppress(Refusal):  # the bucket is away again; the next one removes them
        note_removed(paths=remove_oldest(folder, keep=settings.BACKUP_KEEP, at=at), at=at)
    return None


AT_ONCE = 2_000
PASSES = 10
"""A job of the project that was running may write more rows until it sees that it is cancelled."""
VERSIONS = "corpus_blockversion"


@periodic_task("backups.finish_deletions", every=timedelta(minutes=10))
def finish_deletions(at: datetime) -> None:
    """Queue deletions that were not finished: after a failed job, and in a database from a backup made meanwhile."""
    is_open = Job.objects.open().filter(kind=DELETE_PROJECT)
    for pk in ProjectDeletion.objects.filter(finished_at=None).order_by("pk").values_list("pk", flat=True):
        if not is_open.filter(params={"deletion": pk}).exists():
            enqueue(kind=DELETE_PROJECT, params={"deletion": pk}, project=None, actor=None, at=at)


@job_kind(DELETE_PROJECT, title="Delete a project")
def delete(ctx: JobContext) -> dict[str, Any] | None:
    """Delete everything of the project, and note the head of its history first."""
    deletion = ProjectDeletion.objects.get(pk=ctx.params["deletion"])
    if deletion.finished_at is not None:
        return {"name": deletion.name}
    project_id = deletion.project_id
    chains = list(Chain.objects.filter(project_id=project_id).values_list("name", flat=True))
    parts = (f"{ctx.attempt}-{number}" for number in count(1))
    _note_head(ctx, parts, deletion)
    _remove_files(project_id)
    for _ in range(PASSES):
        if not _delete_rows(ctx, parts, project_id):
            break
    else:
        raise JobFailed("Something still writes to this project. It is tried again in ten minutes.")
    with ctx.finish() as result:
        with connection.cursor() as cursor:  # Django would look for rows of the project in every table
            cursor.execute(f'DELETE FROM "{PROJECTS}" WHERE "id" = %s', [project_id])
        _end(deletion, at=ctx.at)
        result["name"] = deletion.name
    for name in {chain_name(project_id), *chains}:
        signed_checkpoints.forget(name)
    return None


def _note_head(ctx: JobContext, parts: Iterator[str], deletion: ProjectDeletion) -> None:
    """Once: after it rows go, and with them what the chain has sealed."""
    if deletion.head:
        return
    seal_all()
    with ctx.chunk(next(parts)):
        chain = Chain.objects.filter(name=chain_name(deletion.project_id)).first()
        deletion.links, deletion.head = (chain.length, chain.digest) if chain else (0, GENESIS)
        deletion.save(update_fields=["links", "head"])


def _remove_files(project_id: int) -> None:
    """Before the rows, which say where they are."""
    store.remove(*Upload.objects.filter(project_id=project_id).values_list("path", flat=True))


def _delete_rows(ctx: JobContext, parts: Iterator[str], project_id: int) -> int:
    """Delete the rows of all tables but the project itself, and return how many there were."""
    tables = {each.table: each for each in project_tables()}
    for name, column in mutual_references():
        _change(ctx, parts, project_id, tables[name], f'UPDATE "{name}" SET "{column}" = NULL')
    deleted = 0
    for each in tables.values():
        if each.table != PROJECTS:
            deleted += _change(ctx, parts, project_id, each, f'DELETE FROM "{each.table}"')
            ctx.progress(deleted, text=f"{deleted:,} rows deleted")
    return deleted


def _change(ctx: JobContext, parts: Iterator[str], project_id: int, each: ProjectTable, statement: str) -> int:
    changed = 0
    for first, last in key_ranges(each, project_id, size=AT_ONCE):
        with ctx.chunk(next(parts)), connection.cursor() as cursor:
            if each.table == VERSIONS:
                forget_versions(project_id, first, last)
            cursor.execute(f'{statement} WHERE "id" BETWEEN %s AND %s AND {each.condition}', [first, last, project_id])
            changed += cursor.rowcount
        ctx.progress(changed, text=f"{each.table}: {changed:,} rows")
    return changed


def _end(deletion: ProjectDeletion, *, at: datetime) -> None:
    deletion.finished_at = at
    deletion.save(update_fields=["finished_at"])
    after = {
        "slug": deletion.slug,
        "name": deletion.name,
        "counts": deletion.counts,
        "requested_at": deletion.requested_at,
        "links": deletion.links,
        "head": deletion.head,
    }
    record(project=None, actor=deletion.requested_by, action="project.deleted", obj=deletion, after=after, at=at)
