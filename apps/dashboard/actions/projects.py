"""Actions on a project as a whole that need data of several apps."""

from datetime import datetime

from django.db import transaction

from apps.accounts.models import Project, User
from apps.accounts.rules import people_refusal
from apps.audit.actions import record
from apps.common.errors import Forbidden, Refusal
from apps.dashboard import rules


class ScaleRefused(Refusal):
    """The grades of this project are in use."""


@transaction.atomic
def change_scale(*, project_id: int, scale: list[dict], actor: User, at: datetime) -> Project:
    """Set the grades of a project. Refused once anybody has graded with them."""
    project = Project.objects.select_for_update().get(pk=project_id)
    if reason := people_refusal(actor, project):
        raise Forbidden(reason)
    if project.scale == scale:
        return project
    if reason := rules.scale_refusal(project):
        raise ScaleRefused(reason, code="scale_in_use")
    before = {"scale": project.scale}
    project.scale = scale
    project.save(update_fields=["scale"])
    record(
        project=project,
        actor=actor,
        action="project.scale_changed",
        obj=project,
        before=before,
        after={"scale": scale},
        at=at,
    )
    return project
