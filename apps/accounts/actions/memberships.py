"""Granting and ending roles in a project, for the other actions of this folder."""

from datetime import datetime

from apps.accounts.enums import Role
from apps.accounts.models import Membership, Project, User
from apps.common.trail import record


def _grant(*, project: Project, user: User, role: str, granted_by: User | None, at: datetime) -> None:
    _, created = Membership.objects.get_or_create(
        project=project,
        user=user,
        role=role,
        ended_at=None,
        defaults={"granted_by": granted_by, "granted_at": at},
    )
    if created:
        record(project=project, actor=granted_by, action="role.granted", obj=user, after={"role": role}, at=at)


def _change_roles(
    *, project: Project, user: User, before: frozenset[str], wanted: frozenset[str], actor: User | None, at: datetime
) -> None:
    """Make `wanted` the live roles of a person who has those `before`. The project is locked."""
    for role in sorted(wanted - before):
        _grant(project=project, user=user, role=role, granted_by=actor, at=at)
    ended = Membership.objects.live().filter(project=project, user=user, role__in=before - wanted)
    ended.update(ended_at=at, ended_by=actor)
    if before != wanted:
        record(
            project=project,
            actor=actor,
            action="membership.changed",
            obj=user,
            before={"roles": sorted(before)},
            after={"roles": sorted(wanted)},
            at=at,
        )


def _is_last_lead(project: Project, user: User) -> bool:
    return not Membership.objects.live().filter(project=project, role=Role.LEAD).exclude(user=user).exists()
