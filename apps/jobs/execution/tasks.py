"""Celery tasks. Messages contain the id of a job, never the work itself."""

from datetime import datetime, timedelta

from celery import shared_task
from django.utils import timezone

from apps.jobs.execution import mailing, periodic
from apps.jobs.execution.outbox import deliver_due
from apps.jobs.execution.performing import perform
from apps.jobs.execution.processes import worker_name


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
