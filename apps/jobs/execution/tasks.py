"""Celery tasks. Messages contain the id of a job, never the work itself."""

import os
import socket
from datetime import datetime, timedelta

from celery import shared_task
from django.utils import timezone

from apps.jobs.execution import mailing, periodic
from apps.jobs.execution.performing import perform


def worker_name() -> str:
    """The name of this worker: its machine and its process."""
    return f"{socket.gethostname()}:{os.getpid()}"


@shared_task(name="jobs.run")
def run_job(job_id: int) -> None:
    perform(job_id, worker=worker_name(), clock=timezone.now)


@periodic.periodic_task("jobs.mail", every=timedelta(minutes=1))
def tell_by_mail(at: datetime) -> None:
    mailing.mail_what_is_due(at)
