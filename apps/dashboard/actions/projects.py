"""Actions on a project as a whole that need data of several apps."""

from datetime import datetime

from django.db import transaction

from apps.accounts.models import Project, User
from apps.accounts.rules import people_refusal
from apps.accounts.selectors import policy
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


@transaction.atomic
def skip_step(*, project_id: int, step: str, skipped: bool, actor: User, at: datetime) -> Project:
    """Leave one of the first steps out of the list, or bring it back. The same again changes nothing."""
    project = Project.objects.select_for_update().get(pk=project_id)
    if reason := people_refusal(actor, project):
        raise Forbidden(reason)
    if skipped and (reason := rules.skip_refusal(step, is_fresh=rules.is_fresh(project))):
        raise Refusal(reason, code="step")
    before = policy(project, "skipped_steps")
    after = sorted({*before, step} if skipped else {*before} - {step})
    if before == after:
        return project
    project.policies = {**project.policies, "skipped_steps": after}
    project.save(update_fields=["policies"])
    record(
        project=project,
        actor=actor,
        action="project.step_skipped" if skipped else "project.step_brought_back",
        obj=project,
        before={"skipped_steps": before},
        after={"skipped_steps": after},
        at=at,
    )
    return project
