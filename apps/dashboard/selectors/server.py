"""Reads about the whole server, for operators: what was measured, and the sizes of projects."""

from datetime import datetime, timedelta
from functools import reduce
from operator import or_
from typing import NamedTuple

from django.db.models import Q, Subquery

from apps.accounts.models import Project
from apps.dashboard.core.storage import Measured, ProjectSize, measured_from
from apps.dashboard.enums import CLEAR_STORAGE, MEASURE_SERVER
from apps.jobs.enums import JobState
from apps.jobs.models import Job

MOST_PROJECTS = 20
PACE_OVER = timedelta(days=7)
OURS = Job.objects.filter(kind__in=[MEASURE_SERVER, CLEAR_STORAGE]).order_by("-pk")


class Remembered(NamedTuple):
    """The last measurement, and when it was made."""

    at: datetime
    measured: Measured


class SizedProject(NamedTuple):
    project: Project
    size: ProjectSize


class Measurements(NamedTuple):
    """The last one, the newest that is a week old, to tell a pace by, and the job that measures or clears now."""

    last: Remembered | None
    before: Remembered | None
    now: Job | None


def measurements(at: datetime) -> Measurements:
    """In one statement."""
    done = OURS.filter(state=JobState.DONE)
    chosen = (done, done.filter(finished_at__lte=at - PACE_OVER), OURS.open())
    newest = [Q(pk=Subquery(jobs.values("pk")[:1])) for jobs in chosen]
    found = list(Job.objects.filter(reduce(or_, newest)).order_by("-pk"))
    finished = [one for job in found if (one := _remembered(job))]
    last = finished[0] if finished else None
    old = [one for one in finished[1:] if one.at <= at - PACE_OVER]
    return Measurements(last, old[0] if old else None, next((job for job in found if job.state != JobState.DONE), None))


def measuring_now() -> Job | None:
    """The job that measures or clears, while it waits or runs."""
    return OURS.open().first()


def _remembered(job: Job) -> Remembered | None:
    if job.state != JobState.DONE or job.result is None or job.finished_at is None:
        return None
    return Remembered(job.finished_at, measured_from(job.result))


def largest_projects(sizes: dict[int, ProjectSize]) -> list[SizedProject]:
    """The largest projects by all that is counted, in one query. One that was made since is not among them."""
    order = sorted(sizes, key=lambda key: (-sum(sizes[key][:-1]), -sizes[key].upload_bytes, key))[:MOST_PROJECTS]
    found = Project.objects.in_bulk(order)
    return [SizedProject(found[key], sizes[key]) for key in order if key in found]
