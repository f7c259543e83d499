"""Reads across apps for the pages that look at a project as a whole."""

from typing import NamedTuple

from apps.accounts.models import Membership, Project, User
from apps.corpus.models import Snapshot
from apps.corpus.selectors import snapshots_in


class Place(NamedTuple):
    """A project as one person sees it in the list of projects."""

    project: Project
    roles: tuple[str, ...]


def places_of(user: User) -> list[Place]:
    """The projects a person belongs to, by name, with the roles held there."""
    rows = (
        Membership.objects.live()
        .filter(user=user)
        .select_related("project")
        .order_by("project__name", "project", "role")
    )
    held: dict[int, list[Membership]] = {}
    for row in rows:
        held.setdefault(row.project_id, []).append(row)
    return [Place(group[0].project, tuple(row.role for row in group)) for group in held.values()]


def newest_snapshot(project: Project) -> Snapshot | None:
    return snapshots_in(project).first()
