"""Publishing a version of the guideline, and judging again, or keeping, the grades that it touches."""

from collections.abc import Sequence
from datetime import datetime

from django.db import transaction
from django.db.models import Max

from apps.accounts.models import Project, User
from apps.audit.actions import record
from apps.common.errors import Refusal
from apps.corpus.models import Snapshot
from apps.judging.core import guidelines
from apps.judging.models import Guideline
from apps.judging.selectors import rejudging
from apps.judging.selectors.rounds import free_pool_name
from apps.retrieval.actions.pools import choose_pairs
from apps.retrieval.models import Pool


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
    GuidelineRefused.raise_for(guidelines.fault(grades, project.grades), code="guideline_incomplete")
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


class RejudgingRefused(Refusal):
    """There is nothing to judge again."""


@transaction.atomic
def pool_to_rejudge(
    *, guideline: Guideline, snapshot: Snapshot, grades: Sequence[int], actor: User, at: datetime
) -> Pool:
    """Make a pool of the pairs of a snapshot that got one of these grades under an earlier version of the guideline.

    The grades are in the audit log alone: judges must not be able to read from the pool what they were.
    """
    pairs = rejudging.pairs_to_rejudge(guideline, snapshot, grades)
    if not pairs:
        raise RejudgingRefused("There are no earlier grades to judge again.", code="nothing_to_judge_again")
    pool = choose_pairs(
        project=guideline.project,
        snapshot=snapshot,
        name=free_pool_name(guideline.project, f"Again under guideline {guideline.number}"),
        pairs=pairs,
        origin="Judged before, under an earlier version of the guideline",
        plan={"again_under": guideline.number},
        actor=actor,
        at=at,
    )
    after = {"pool": pool.pk, "number": guideline.number, "grades": sorted(set(grades)), "pairs": len(pairs)}
    record(project=guideline.project, actor=actor, action="guideline.judged_again", obj=guideline, after=after, at=at)
    return pool


@transaction.atomic
def keep_grades(*, guideline: Guideline, actor: User, at: datetime) -> None:
    """Record that the grades given under earlier versions remain valid."""
    counts = {str(row.grade): 0 for row in rejudging.touched(guideline)}
    for row in rejudging.touched(guideline):
        counts[str(row.grade)] += row.judgements
    after = {"number": guideline.number, "judgements": counts}
    record(project=guideline.project, actor=actor, action=rejudging.KEPT, obj=guideline, after=after, at=at)
