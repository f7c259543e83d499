"""The sweep of every worker, every two seconds: store that it lives and on which host, and pick up forgotten work.

And nudges: a nudge is a message that wakes a worker for a job. It contains the id of the job, never the work itself.
"""

import logging
import os
import uuid
from contextlib import suppress
from datetime import datetime
from functools import cache, partial
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import F, Q
from django.db.models.functions import Now

from apps.common.database.functions import from_now
from apps.common.files.private import FILE, FOLDER, HOST
from apps.common.hooks import load_celery
from apps.jobs import workflow
from apps.jobs.enums import JobState, JobStep
from apps.jobs.execution.performing import CAN_BE_CLAIMED, give_up
from apps.jobs.models import Job, WorkerBeat

log = logging.getLogger(__name__)

NUDGE_AGAIN_SWEEPS = 5
NUDGES_A_SWEEP = 20
FORGET_WORKER_SECONDS = 86_400

LAPSED = Q(state=JobState.RUNNING, lease_expires_at__lt=Now())


def beat(worker: str) -> None:
    """Store the database's time as the last sign of life of this worker."""
    if WorkerBeat.objects.filter(worker=worker).update(seen_at=Now()):
        return
    WorkerBeat.objects.filter(seen_at__lt=from_now(-FORGET_WORKER_SECONDS)).delete()
    WorkerBeat.objects.create(worker=worker, host=host_id(), started_at=Now(), seen_at=Now())


def close_abandoned(*, at: datetime) -> None:
    """End running jobs whose worker has ended and which must not be taken over: cancelled, or without attempts left.

    A job that kills its worker each time would otherwise be retried for ever.
    """
    for job in Job.objects.filter(LAPSED):
        try:
            _close(job, at=at)
        except Exception:
            log.exception("Job %s is abandoned and could not be closed.", job.pk)


def _close(job: Job, *, at: datetime) -> None:
    ended: dict[str, Any] = {"lease_expires_at": None, "finished_at": Now()}
    where = LAPSED & Q(attempt=job.attempt)
    if job.cancel_requested_at is not None:
        workflow.move(job.pk, JobStep.CANCEL, where=where, at=at, **ended)
    elif job.attempt >= job.max_attempts:
        give_up(job.pk, where=where, at=at, error=_died(job))


def jobs_to_nudge() -> list[int]:
    """Jobs that can be claimed and for which no message is known to be under way; marks them as nudged now."""
    quiet = Q(nudged_at=None) | Q(nudged_at__lt=from_now(-NUDGE_AGAIN_SWEEPS * settings.JOB_SWEEP_SECONDS))
    due = Job.objects.filter(CAN_BE_CLAIMED & quiet, attempt__lt=F("max_attempts")).order_by("pk")
    ids = list(due.values_list("pk", flat=True)[:NUDGES_A_SWEEP])
    if ids:
        Job.objects.filter(pk__in=ids).update(nudged_at=Now())
    return ids


def _died(job: Job) -> str:
    reason = f"The worker stopped in the middle of this job, in attempt {job.attempt} of {job.max_attempts}."
    return f"{reason} Before that: {job.error}" if job.error else reason


# Which host this is: the processes that use one data directory


def host_id() -> str:
    """A random id, which the data directory has from its first use on."""
    return _id_in(Path(settings.DATA_DIR))


def own_id() -> str:
    """The same without making one; "" where no worker has run yet."""
    path = Path(settings.DATA_DIR) / HOST
    return path.read_text() if path.exists() else ""


@cache
def _id_in(folder: Path) -> str:
    path = folder / HOST
    if not path.exists():
        folder.mkdir(mode=FOLDER, parents=True, exist_ok=True)
        _write_first(path)
    return path.read_text()


def _write_first(path: Path) -> None:
    """Write a new id, unless another process is first. Who reads it finds all of it."""
    scratch = path.with_name(f"{HOST}.{uuid.uuid4().hex}")
    with os.fdopen(os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_EXCL, FILE), "w") as stream:
        stream.write(uuid.uuid4().hex)
    with suppress(FileExistsError):
        os.link(scratch, path)
    scratch.unlink()


def nudge(job_id: int) -> None:
    """Wake a worker for this job. If the broker is unreachable, the next sweep picks up the job."""
    try:
        load_celery()
        from apps.jobs.execution.tasks import run_job  # Celery is slow to load, and most commands queue nothing

        run_job.apply_async((job_id,), retry=False)
    except Exception as problem:
        log.warning("Job %s could not be sent to the broker (%s). The next sweep picks it up.", job_id, problem)


def nudge_on_commit(job_id: int) -> None:
    transaction.on_commit(partial(nudge, job_id), robust=True)
