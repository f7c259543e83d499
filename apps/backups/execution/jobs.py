"""Backups by a worker, at the times that the settings say."""

import logging
from contextlib import suppress
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import transaction

from apps.backups.enums import BACK_UP
from apps.backups.execution.making import make_backup, note_backup, note_removed, remove_oldest
from apps.backups.execution.places import place_of
from apps.backups.execution.verification import scratch_beside, verify_backup
from apps.backups.selectors.backups import is_due, standing
from apps.common.discovery import later
from apps.common.errors import Refusal
from apps.jobs.enums import DeliveryKind, JobState, ServerEvent
from apps.jobs.execution.context import JobContext, JobFailed
from apps.jobs.execution.outbox import post_to_operators
from apps.jobs.execution.periodic import periodic_task
from apps.jobs.models import Job, Outbox
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
