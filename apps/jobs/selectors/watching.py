"""What a monitor watches of jobs, workers and the outbox, for all projects together."""

from datetime import datetime
from math import inf

from django.db.models import Count, Max, Min
from django.db.models.functions import Coalesce, Now

from apps.common.web.exposition import Metric, gauge, gauge_by
from apps.jobs.enums import DeliveryState, JobState
from apps.jobs.models import Job, Outbox
from apps.jobs.selectors.jobs import worker_last_seen

UNSENT = (DeliveryState.WAITING, DeliveryState.FAILED)


def job_metrics(at: datetime) -> list[Metric]:
    """Jobs by state, and for how long the first of those that wait has waited; 0 where none waits.

    A job that is to be tried again later waits from then on.
    """
    rows = Job.objects.order_by().values_list("state").annotate(number=Count("*"))
    numbers = {**dict.fromkeys(JobState.values, 0), **dict(rows)}
    queued = Job.objects.filter(state=JobState.QUEUED)
    first = queued.aggregate(since=Min(Coalesce("next_at", "created_at")), clock=Max(Now()))
    waited = max(0.0, (first["clock"] - first["since"]).total_seconds()) if first["since"] else 0.0
    return [
        gauge_by("karat_jobs", "Jobs by state.", "state", numbers),
        gauge("karat_jobs_oldest_queued_seconds", "How long the oldest queued job has waited.", waited),
    ]


def worker_metrics(at: datetime) -> list[Metric]:
    """Infinity where no worker was ever seen, so that an alert for a large value fires."""
    seconds = worker_last_seen()
    about = "Time since any worker was last seen."
    return [gauge("karat_worker_last_seen_seconds", about, inf if seconds is None else seconds)]


def outbox_metrics(at: datetime) -> list[Metric]:
    rows = Outbox.objects.filter(state__in=UNSENT).order_by().values_list("state").annotate(number=Count("*"))
    numbers = {**dict.fromkeys((state.value for state in UNSENT), 0), **dict(rows)}
    return [gauge_by("karat_outbox", "Mails and webhook messages that are not sent, by state.", "state", numbers)]
