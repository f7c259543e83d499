"""Reads about the whole server, for operators: what was measured, and the sizes of projects."""

from datetime import datetime, timedelta
from typing import NamedTuple

from django.db.models import QuerySet

from apps.accounts.models import Project
from apps.dashboard.core.storage import Measured, ProjectSize, measured_from
from apps.dashboard.enums import CLEAR_STORAGE, MEASURE_SERVER
from apps.jobs.enums import JobState
from apps.jobs.models import Job

MOST_PROJECTS = 20
PACE_OVER = timedelta(days=7)


class Remembered(NamedTuple):
    """The last measurement, and when it was made."""

    at: datetime
    measured: Measured


class SizedProject(NamedTuple):
    project: Project
    size: ProjectSize


def remembered() -> Remembered | None:
    return _newest(_measurements())


def remembered_before(last: Remembered) -> Remembered | None:
    """The newest measurement that is at least a week older, to tell a pace by."""
    return _newest(_measurements().filter(finished_at__lte=last.at - PACE_OVER))


def _measurements() -> QuerySet[Job]:
    return Job.objects.filter(kind__in=[MEASURE_SERVER, CLEAR_STORAGE], state=JobState.DONE).order_by("-pk")


def _newest(jobs: QuerySet[Job]) -> Remembered | None:
    done = jobs.first()
    if done is None or done.result is None or done.finished_at is None:
        return None
    return Remembered(done.finished_at, measured_from(done.result))


def measuring_now() -> Job | None:
    """The job that measures or clears, while it waits or runs."""
    return Job.objects.open().filter(kind__in=[MEASURE_SERVER, CLEAR_STORAGE]).order_by("-pk").first()


def largest_projects(sizes: dict[int, ProjectSize]) -> list[SizedProject]:
    """The largest projects by all that is counted, in one query. One that was made since is not among them."""
    order = sorted(sizes, key=lambda key: (-sum(sizes[key][:-1]), -sizes[key].upload_bytes, key))[:MOST_PROJECTS]
    found = Project.objects.in_bulk(order)
    return [SizedProject(found[key], sizes[key]) for key in order if key in found]
