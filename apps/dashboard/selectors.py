"""Reads across apps for the pages that look at a project as a whole."""

from itertools import groupby
from typing import NamedTuple

from django.db.models import Exists, OuterRef

from apps.accounts.models import Membership, Project, User
from apps.corpus.models import Snapshot
from apps.corpus.selectors import snapshots_in
from apps.jobs.curtains import covered_for
from apps.jobs.models import Notification


class Place(NamedTuple):
    """A project as one person sees it in the list of projects."""

    project: Project
    roles: tuple[str, ...]
    has_unread: bool


def places_of(user: User) -> list[Place]:
    """The projects a person belongs to, by name, with the roles held there and whether something there is unread."""
    unread = Notification.objects.filter(person=user, project=OuterRef("project"), read_at=None)
    rows = (
        Membership.objects.live()
        .filter(user=user)
        .select_related("project")
        .annotate(has_unread=Exists(unread.exclude(covered_for(user))))
        .order_by("project__name", "project", "role")
    )
    groups = [list(group) for _, group in groupby(rows, key=lambda row: row.project_id)]
    return [Place(group[0].project, tuple(row.role for row in group), group[0].has_unread) for group in groups]


def newest_snapshot(project: Project) -> Snapshot | None:
    return snapshots_in(project).first()
