"""Celery tasks. Messages contain the id of a job, never the work itself."""

import logging
import os
import socket
from datetime import datetime, timedelta
from functools import partial

from celery import shared_task
from django.db import transaction
from django.utils import timezone

from apps.jobs.execution import mailing, periodic
from apps.jobs.execution.outbox import deliver_due
from apps.jobs.execution.performing import perform

log = logging.getLogger(__name__)


def worker_name() -> str:
    return f"{socket.gethostname()}:{os.getpid()}"


@shared_task(name="jobs.run")
def run_job(job_id: int) -> None:
    perform(job_id, worker=worker_name(), clock=timezone.now)


@shared_task(name="jobs.deliver")
def deliver_outbox() -> None:
    deliver_due(at=timezone.now())


@periodic.periodic_task("jobs.mail", every=timedelta(minutes=1))
def tell_by_mail(at: datetime) -> None:
    mailing.mail_what_is_due(at)


@shared_task(name="jobs.periodic")
def run_periodic_task(name: str) -> None:
    periodic.do(name, at=timezone.now())


def nudge(job_id: int) -> None:
    """Wake a worker for this job. If the broker is unreachable, the next sweep picks up the job."""
    try:
        run_job.apply_async((job_id,), retry=False)
    except Exception as problem:
        log.warning("Job %s could not be sent to the broker (%s). The next sweep picks it up.", job_id, problem)


def nudge_on_commit(job_id: int) -> None:
    transaction.on_commit(partial(nudge, job_id), robust=True)
