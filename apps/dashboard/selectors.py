"""Reads for pages about a project as a whole, and for operators about the whole server: what was measured, and the
sizes of projects.
"""

from datetime import datetime, timedelta
from functools import reduce
from itertools import groupby
from operator import or_
from typing import NamedTuple

from django.conf import settings
from django.db.models import Exists, OuterRef, Q, Subquery

from apps.accounts.models import Membership, Project, User
from apps.common.database.batched_reads import BatchedRead
from apps.dashboard.core.storage import Measured, ProjectSize, measured_from
from apps.dashboard.enums import CLEAR_STORAGE, LOAD_DEMO, MEASURE_SERVER
from apps.jobs.enums import JobState
from apps.jobs.models import Job, Notification
from apps.jobs.selectors.jobs import hidden_for


class ProjectPlace(NamedTuple):
    """A project in one person's list of projects. `loading` is the open job that fills a demo."""

    project: Project
    roles: tuple[str, ...]
    has_unread: bool
    loading: Job | None = None


def places_of(user: User) -> list[ProjectPlace]:
    """The projects of a person, by name, with their roles and whether they have unread notifications there."""
    unread = Notification.objects.filter(person=user, project=OuterRef("project"), read_at=None)
    rows = (
        Membership.objects.live()
        .filter(user=user)
        .select_related("project")
        .annotate(has_unread=Exists(unread.exclude(hidden_for(user))))
        .order_by("project__name", "project", "role")
    )
    groups = [list(group) for _, group in groupby(rows, key=lambda row: row.project_id)]
    loading = _loading([group[0].project for group in groups if group[0].project.is_demo])
    return [
        ProjectPlace(
            project=group[0].project,
            roles=tuple(row.role for row in group),
            has_unread=group[0].has_unread,
            loading=loading.get(group[0].project_id),
        )
        for group in groups
    ]


def offers_demo(user: User) -> bool:
    """Whether a person may load the demo and has none yet."""
    if not (settings.OFFER_DEMO and user.is_operator):
        return False
    return not Membership.objects.live().filter(user=user, project__is_demo=True).exists()


def _loading(demos: list[Project]) -> dict[int, Job]:
    """The open job of each demo that is not filled yet."""
    if not demos:
        return {}
    jobs = Job.objects.filter(kind=LOAD_DEMO, project__in=demos).exclude(state=JobState.DONE)
    return {job.project_id: job for job in jobs if job.project_id is not None}


def demo_asked(project: Project) -> BatchedRead[Job | None]:
    """The job that fills this demo project now; None, without asking, for other projects."""
    if not project.is_demo:
        return BatchedRead({}, lambda found: None)
    loading = Job.objects.open().filter(kind=LOAD_DEMO, project=project).order_by("pk")
    asks = {field.attname: Subquery(loading.values(field.attname)[:1]) for field in Job._meta.concrete_fields}
    return BatchedRead(
        asks, lambda found: Job.from_db(None, list(found), list(found.values())) if found["id"] else None
    )


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
