"""Granting a role in a project, for the other actions of this folder."""

from datetime import datetime

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
