"""Publishing a version of the guideline."""

from datetime import datetime

from django.db import transaction
from django.db.models import Max

from apps.accounts.models import Project, User
from apps.audit.actions import record
from apps.common.errors import Refusal
from apps.judging.core import guidelines
from apps.judging.models import Guideline


class GuidelineRefused(Refusal):
    """A guideline does not define its grades well enough."""


@transaction.atomic
def publish_guideline(
    *, project: Project, actor: User, grades: list[guidelines.GradeText], markdown: str = "", at: datetime
) -> Guideline:
    """Publish the next version of the project's guideline. Earlier versions do not change.

    `grades` defines each grade of the scale, lowest first. Rejects a text equal to the latest version.
    """
    project = Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    if reason := guidelines.fault(grades, project.grades):
        raise GuidelineRefused(reason, code="guideline_incomplete")
    latest = project.guidelines.order_by("-number").first()
    if latest and (latest.grades, latest.markdown) == (grades, markdown):
        raise GuidelineRefused("Nothing has changed since the latest version.", code="guideline_unchanged")
    number = (project.guidelines.aggregate(top=Max("number"))["top"] or 0) + 1
    guideline = Guideline.objects.create(
        project=project, number=number, markdown=markdown, grades=grades, published_by=actor, published_at=at
    )
    record(
        project=project,
        actor=actor,
        action="guideline.published",
        obj=guideline,
        before={"number": latest.number} if latest else None,
        after={"number": number},
        at=at,
    )
    return guideline
