"""What a monitor and an operator watch of jobs, workers and the outbox, for all projects together."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from functools import partial
from math import inf
from typing import NamedTuple

from django.db.models import Count, Max, Min, OuterRef, Q, Subquery
from django.db.models.functions import Coalesce, Now
from prometheus_client.core import GaugeMetricFamily, Metric

from apps.common.database.batched_reads import once
from apps.jobs.core.progress import WEBHOOK_ENDED, Unsent, spoken
from apps.jobs.enums import DeliveryKind, DeliveryState, JobState
from apps.jobs.models import Job, Outbox, WorkerBeat
from apps.jobs.selectors.job_kinds import title_of
from apps.jobs.selectors.jobs import MISSING_AFTER_SECONDS, worker_last_seen

UNSENT = (DeliveryState.WAITING, DeliveryState.FAILED)
LATELY = timedelta(days=7)
"""For how long an operator sees what has failed for good."""


def job_metrics(at: datetime) -> list[Metric]:
    """Jobs by state, and for how long the first of those that wait has waited; 0 where none waits.

    A job that is to be tried again later waits from then on.
    """
    rows = Job.objects.order_by().values_list("state").annotate(number=Count("*"))
    numbers = {**dict.fromkeys(JobState.values, 0), **dict(rows)}
    about = "How long the oldest queued job has waited."
    return [
        _by_state("karat_jobs", "Jobs by state.", numbers),
        GaugeMetricFamily("karat_jobs_oldest_queued_seconds", about, oldest_queued_seconds()),
    ]


def oldest_queued_seconds() -> float:
    """How long the first of the jobs that wait has waited; 0 where none waits."""
    queued = Job.objects.filter(state=JobState.QUEUED)
    first = queued.aggregate(since=Min(Coalesce("next_at", "created_at")), clock=Max(Now()))
    return _seconds(first["since"], first["clock"])


def worker_metrics(at: datetime) -> list[Metric]:
    """Infinity where no worker was ever seen, so that an alert for a large value fires."""
    seconds = worker_last_seen()
    about = "Time since any worker was last seen."
    return [GaugeMetricFamily("karat_worker_last_seen_seconds", about, inf if seconds is None else seconds)]


def outbox_metrics(at: datetime) -> list[Metric]:
    rows = Outbox.objects.filter(state__in=UNSENT).order_by().values_list("state").annotate(number=Count("*"))
    numbers = {**dict.fromkeys((state.value for state in UNSENT), 0), **dict(rows)}
    return [_by_state("karat_outbox", "Mails and webhook messages that are not sent, by state.", numbers)]


def _by_state(name: str, about: str, numbers: Mapping[str, int]) -> Metric:
    family = GaugeMetricFamily(name, about, labels=["state"])
    for state, number in numbers.items():
        family.add_metric([state], number)
    return family


class SeenWorker(NamedTuple):
    """A worker that was seen in the last day, and how many seconds ago by the database's clock.

    `host` is the id of its data directory; "" of one that an older version runs.
    """

    name: str
    host: str
    started_at: datetime
    seconds: float

    @property
    def is_at_work(self) -> bool:
        return self.seconds <= MISSING_AFTER_SECONDS

    @property
    def seen(self) -> str:
        return spoken(self.seconds)


def workers_seen() -> list[SeenWorker]:
    """The workers, the one seen last first."""
    return once("workers seen", _workers_seen)


def _workers_seen() -> list[SeenWorker]:
    rows = WorkerBeat.objects.order_by("-seen_at", "worker").annotate(clock=Now())
    found = rows.values_list("worker", "host", "started_at", "seen_at", "clock")
    return [
        SeenWorker(name, host, started_at, _seconds(seen_at, clock)) for name, host, started_at, seen_at, clock in found
    ]


class KindOfJobs(NamedTuple):
    """The jobs of one kind that are not done: `failing` are those that failed before or, of late, for good."""

    kind: str
    waiting: int
    running: int
    failing: int
    oldest_seconds: float

    @property
    def title(self) -> str:
        return title_of(self.kind)

    @property
    def oldest(self) -> str:
        return spoken(self.oldest_seconds)


def jobs_by_kind(at: datetime) -> list[KindOfJobs]:
    """The kinds with jobs that wait, run or have failed of late, by name."""
    failed = Q(state=JobState.FAILED, finished_at__gt=at - LATELY)
    queued, running = Q(state=JobState.QUEUED), Q(state=JobState.RUNNING)
    rows = (
        Job.objects.filter(state__in=[JobState.QUEUED, JobState.RUNNING, JobState.FAILED])
        .filter(queued | running | failed)
        .order_by("kind")
        .values_list("kind")
        .annotate(
            waiting=Count("pk", filter=queued),
            running=Count("pk", filter=running),
            failing=Count("pk", filter=failed | (queued & ~Q(error=""))),
            since=Min("created_at", filter=queued),
            clock=Max(Now()),
        )
    )
    return [
        KindOfJobs(kind, waiting, running, failing, _seconds(since, clock))
        for kind, waiting, running, failing, since, clock in rows
    ]


def unsent(kind: DeliveryKind, at: datetime) -> Unsent:
    """What waits in the outbox, and what was given up in the last days but for webhooks that somebody has removed."""
    return once("unsent", partial(_unsent, at)).get(kind, Unsent())


def _unsent(at: datetime) -> dict[str, Unsent]:
    """By kind of delivery, those of which nothing is left out, in one statement."""
    waiting = Q(state=DeliveryState.WAITING)
    failing, given_up = waiting & ~Q(error=""), Q(state=DeliveryState.FAILED, created_at__gt=at - LATELY)
    rows = Outbox.objects.filter(waiting | given_up, state__in=UNSENT).exclude(error=WEBHOOK_ENDED)
    newest = rows.filter(kind=OuterRef("kind")).exclude(error="").order_by("-pk").values("error")[:1]
    by_kind = (
        rows.order_by("kind")
        .values("kind")
        .annotate(
            waiting=Count("pk", filter=waiting),
            failing=Count("pk", filter=failing),
            given_up=Count("pk", filter=given_up),
            since=Min("created_at", filter=failing),
            clock=Max(Now()),
            reason=Subquery(newest),
        )
    )
    return {
        found["kind"]: Unsent(
            found["waiting"],
            found["failing"],
            found["given_up"],
            _seconds(found["since"], found["clock"]),
            found["reason"] or "",
        )
        for found in by_kind
    }


def _seconds(since: datetime | None, clock: datetime | None) -> float:
    return max(0.0, (clock - since).total_seconds()) if since and clock else 0.0
