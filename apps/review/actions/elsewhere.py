"""A lead's decisions on what was reviewed elsewhere: at once for a few hundred Q&As, else in a job."""

from datetime import datetime
from typing import Any, NamedTuple

from django.db import transaction

from apps.accounts.enums import Role
from apps.accounts.models import Project, User
from apps.accounts.rules import locked_roles
from apps.common.errors import Forbidden
from apps.corpus.core.import_plans import ImportPlan
from apps.corpus.execution.import_reading import keep_applied
from apps.corpus.models import Import
from apps.corpus.selectors.import_kinds import FileToImport
from apps.jobs.actions.jobs import enqueue
from apps.jobs.actions.uploads import StoredUpload
from apps.jobs.models import Job
from apps.review import rules
from apps.review.execution.elsewhere import DRAW, TAKE, ElsewhereRefused, Taken, draw, locked_import, take
from apps.review.selectors.elsewhere import a_tenth_of, drawing_order, is_applied
from apps.triples.rules import NEEDS_LEAD
from apps.triples.selectors.entry_comparison import IMPORT_KIND
from apps.triples.selectors.imported import reviewed_elsewhere

MOST_AT_ONCE = 300
BUSY = ("queued", "running")


@transaction.atomic
def take_elsewhere(*, project: Project, import_id: int, lead: User, reason: str, at: datetime) -> Import:
    """Take the drafts of an import that were reviewed elsewhere as accepted, by this lead's decision on record."""
    item = _locked(project, import_id, lead)
    number = reviewed_elsewhere(item).count()
    ElsewhereRefused.raise_for(rules.take_elsewhere_refusal(number, reason), code="not_taken")
    if number > MOST_AT_ONCE:
        return _in_job(item, TAKE, lead, at, reason=reason.strip())
    take(item, lead=lead, reason=reason, at=at)
    return item


@transaction.atomic
def draw_elsewhere(*, project: Project, import_id: int, lead: User, size: int, at: datetime) -> Import:
    """Have so many of them reviewed blind, drawn at random."""
    item = _locked(project, import_id, lead)
    order = drawing_order(item)
    ElsewhereRefused.raise_for(rules.draw_refusal(len(order.left), len(order.drawn), size), code="not_drawn")
    if size - len(order.drawn) > MOST_AT_ONCE:
        return _in_job(item, DRAW, lead, at, size=size)
    draw(item, size=size, lead=lead, at=at)
    return item


class TakenAndDrawn(NamedTuple):
    taken: Taken
    drawn: int


@transaction.atomic
def take_applied(
    *,
    file: FileToImport,
    stored: StoredUpload,
    plan: ImportPlan,
    lead: User,
    reason: str,
    sample: int | None,
    at: datetime,
) -> TakenAndDrawn:
    """Keep a file of Q&As that a command has just imported, and take and draw of it at once, however many there are.

    `sample` is how many are drawn, 0 for none, None for one in ten of those that were taken.
    """
    item = keep_applied(file=file, kind=IMPORT_KIND, stored=stored, plan=plan, actor=lead, at=at)
    taken = take(item, lead=lead, reason=reason, at=at)
    size = a_tenth_of(taken.accepted) if sample is None else sample
    return TakenAndDrawn(taken, draw(item, size=size, lead=lead, at=at) if size else 0)


def _locked(project: Project, import_id: int, lead: User) -> Import:
    if Role.LEAD not in locked_roles(lead, project):
        raise Forbidden(NEEDS_LEAD, code="needs_lead")
    item = locked_import(project.pk, import_id)
    if not is_applied(item):
        raise ElsewhereRefused("This import has made no Q&As that stand.", code="import_not_applied")
    if running_job(item):
        raise ElsewhereRefused("A job works on these Q&As. Wait until it has ended.", code="busy")
    return item


def running_job(item: Import) -> Job | None:
    """The job that takes or draws Q&As of an import just now."""
    if item.job_id is None:
        return None
    return Job.objects.filter(pk=item.job_id, kind__in=[TAKE, DRAW], state__in=BUSY).first()


def _in_job(item: Import, kind: str, lead: User, at: datetime, **params: Any) -> Import:
    params |= {"project_id": item.project_id, "import_id": item.pk}
    item.job = enqueue(kind=kind, params=params, project=item.project, actor=lead, at=at)
    item.save(update_fields=["job"])
    return item
