"""Reads from several apps for pages about a project as a whole."""

from itertools import groupby
from typing import NamedTuple

from django.conf import settings
from django.db.models import Exists, OuterRef, Subquery

from apps.accounts.models import Membership, Project, User
from apps.common.database.batched_reads import BatchedRead
from apps.corpus.models import Snapshot
from apps.corpus.selectors.corpora import snapshots_in
from apps.dashboard.enums import LOAD_DEMO
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


def newest_snapshot(project: Project) -> Snapshot | None:
    return snapshots_in(project).first()
