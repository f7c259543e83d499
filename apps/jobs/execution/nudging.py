"""Nudges: messages that wake a worker for a job. They contain the id of the job, never the work itself."""

import logging
from functools import partial

from django.db import transaction

from apps.common.hooks import load_celery

log = logging.getLogger(__name__)


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
