"""Bulk steps for tests, previewed and begun by the real actions and done by their jobs."""

from typing import Any

from apps.accounts.models import Project, User
from apps.accounts.selectors import roles_of
from apps.review.actions.bulk import begin_step, preview, undo_step
from apps.review.enums import BulkKind
from apps.review.models import BulkStep
from apps.review.selectors.board import BoardFilters
from apps.review.selectors.bulk import Selection
from apps.review.selectors.bulk_preview import Preview
from apps.triples.models import Triple
from tests.factories import AT, lead_of
from tests.running_jobs import run_jobs

VALUES: dict[BulkKind, dict[str, Any]] = {
    BulkKind.ASSIGN: {"replace": "unanswered", "reason": "A holiday."},
    BulkKind.RETIRE: {"reason": "out_of_scope"},
}


def chosen(triples: list[Triple]) -> Selection:
    return Selection(ids=[triple.pk for triple in triples])


def matching(**filters: Any) -> Selection:
    return Selection(filters=BoardFilters(**filters))


def seen(
    project: Project, kind: BulkKind, selection: Selection, *, lead: User | None = None, at: Any = AT, **values: Any
) -> Preview:
    lead = lead or lead_of(project)
    return preview(
        project=project,
        lead=lead,
        roles=roles_of(lead, project),
        kind=kind,
        values=VALUES.get(kind, {}) | values,
        selection=selection,
        at=at,
    )


def begin(
    project: Project,
    kind: BulkKind,
    selection: Selection,
    *,
    lead: User | None = None,
    digest: str | None = None,
    at: Any = AT,
    **values: Any,
) -> BulkStep:
    lead = lead or lead_of(project)
    digest = seen(project, kind, selection, lead=lead, at=at, **values).digest if digest is None else digest
    return begin_step(
        project=project,
        lead=lead,
        kind=kind,
        values=VALUES.get(kind, {}) | values,
        selection=selection,
        digest=digest,
        at=at,
    )


def do(project: Project, kind: BulkKind, selection: Selection, **more: Any) -> BulkStep:
    """Begun, and done by its job."""
    step = begin(project, kind, selection, **more)
    run_jobs()
    return BulkStep.objects.get(pk=step.pk)


def undo(step: BulkStep, lead: User | None = None) -> BulkStep:
    undo_step(project=step.project, step_id=step.pk, lead=lead or step.begun_by, at=AT)
    run_jobs()
    return BulkStep.objects.get(pk=step.pk)


def states_of(step: BulkStep) -> list[tuple[str, str]]:
    """The label of each triple of the step, and what became of it."""
    items = step.items.select_related("triple").order_by("triple__number")
    return [(item.triple.label, item.state) for item in items]
