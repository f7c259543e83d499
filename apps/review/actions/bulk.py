"""One action of a lead on many triples: begun with what the preview showed, done by a job one by one, and undone."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Count, Subquery

from apps.accounts.enums import Role
from apps.accounts.models import Project, User
from apps.accounts.rules import locked_roles
from apps.audit.actions import record
from apps.common.errors import Forbidden, Refusal
from apps.common.text.wording import plural
from apps.jobs.actions.jobs import enqueue
from apps.jobs.execution.context import JobContext
from apps.jobs.selectors.job_kinds import job_kind
from apps.review import rules
from apps.review.actions import notices
from apps.review.actions.rounds import SubmitRefused, release
from apps.review.actions.seating import assign_reviewers, take_back_assignment
from apps.review.actions.submitting import re_pin, submit_triple
from apps.review.enums import BulkKind, ItemState
from apps.review.models import BulkItem, BulkStep
from apps.review.selectors.bulk import IS_OPEN, MOST_SELECTED, Selection, steps_in, untouched
from apps.review.selectors.bulk_preview import Preview, preview_of
from apps.review.selectors.seats import live_seats
from apps.triples.actions.triples import add_revision, describe_triple, retire_triple
from apps.triples.core.checks import stops
from apps.triples.enums import RetireReason, Step
from apps.triples.execution.staleness import mark_if_changed
from apps.triples.models import Triple
from apps.triples.selectors.draft_checks import checks_of
from apps.triples.selectors.triples import locked_triple, revoked_refusal, writing_snapshot
from apps.triples.workflow import move

NEEDS_LEAD = "Only a lead can act on many Q&As at once."


class BulkRefused(Refusal):
    """The step cannot begin, or cannot be undone."""


def preview(
    *, project: Project, lead: User, roles: frozenset[str], kind: BulkKind, values: Mapping[str, Any],
    selection: Selection, at: datetime,
) -> Preview:  # fmt: skip
    """What the step would do to the selected triples, without doing it."""
    if Role.LEAD not in roles:
        raise Forbidden(NEEDS_LEAD, code="not_a_lead")
    triples = selection.triples(project, lead, at)
    if len(triples) > MOST_SELECTED:
        raise BulkRefused(f"At most {MOST_SELECTED:,} Q&As at once. Narrow the selection.", code="too_many")
    return preview_of(kind, values, triples, project=project, lead=lead, roles=roles, at=at)


@transaction.atomic
def begin_step(
    *,
    project: Project,
    lead: User,
    kind: BulkKind,
    values: Mapping[str, Any],
    selection: Selection,
    digest: str,
    at: datetime,
) -> BulkStep:
    """Queue the job that does it to those that it can be done to now. `digest` is that of the preview that was seen."""
    Project.objects.select_for_update().get(pk=project.pk)
    roles = locked_roles(lead, project)
    seen = preview(project=project, lead=lead, roles=roles, kind=kind, values=values, selection=selection, at=at)
    BulkRefused.raise_for(seen.missing, code="value_missing")
    if seen.digest != digest:
        raise BulkRefused("This is another selection than was shown. Look at it again.", code="selection_changed")
    if not seen.can:
        raise BulkRefused("There is none that it can be done to.", code="none_fits")
    if steps_in(project).filter(IS_OPEN, begun_by=lead, kind=kind).exists():
        raise BulkRefused("You have begun the same a moment ago. Wait until it is done, or stop it.", code="under_way")
    step = BulkStep(
        project=project,
        kind=kind,
        values=dict(values),
        waits={str(share.person.pk): share.number for share in seen.waits},
        selected=seen.selected,
        planned=len(seen.can),
        begun_by=lead,
        begun_at=at,
    )
    title = f"{kind.label}: {plural(step.planned, 'Q&A')}"
    step.job = enqueue(kind=DO, params={}, project=project, actor=lead, at=at, title=title)
    step.save()
    BulkItem.objects.bulk_create([BulkItem(step=step, triple=triple) for triple in seen.can], batch_size=500)
    _record(step, "bulk.begin", at, selected=step.selected, planned=step.planned, kind=kind.value, values=step.values)
    return step


@transaction.atomic
def undo_step(*, project: Project, step_id: int, lead: User, at: datetime) -> BulkStep:
    """Queue the job that gives back each triple that nobody has touched since."""
    step = BulkStep.objects.select_for_update(of=("self",)).select_related("job", "begun_by", "project").get(
        project=project, pk=step_id
    )  # fmt: skip
    BulkRefused.raise_for(rules.undo_refusal(step, lead, locked_roles(lead, project)), code="not_undoable")
    if not step.items.filter(untouched(lead)).exists():
        raise BulkRefused("Somebody has acted on each of them since, so none is given back.", code="all_touched")
    title = f"Undo “{step.get_kind_display()}” of {plural(step.planned, 'Q&A')}"
    step.undo_job = enqueue(kind=UNDO, params={}, project=project, actor=lead, at=at, title=title)
    step.save(update_fields=["undo_job"])
    _record(step, "bulk.undo", at, kind=step.kind)
    return step


def _record(step: BulkStep, action: str, at: datetime, **facts: Any) -> None:
    record(project=step.project, actor=step.begun_by, action=action, obj=step, after=facts, at=at)


# Jobs --------------------------------------------------------------------------------------------------------------

DO, UNDO = "review.bulk", "review.undo_bulk"


@job_kind(DO, title="Act on many Q&As")
def do_bulk(ctx: JobContext) -> dict[str, Any]:
    """Do the step to each of its triples, each in a transaction of its own; what changed meanwhile is left out."""
    step = BulkStep.objects.select_related("project", "begun_by").get(job=ctx.job_id)
    _each(ctx, step, ItemState.PLANNED, _do)
    with ctx.finish() as result:
        notices.stale_wait(step, ctx.at)
        result.update(_counts(step))
    return ctx.result


@job_kind(UNDO, title="Undo an action on many Q&As")
def undo_bulk(ctx: JobContext) -> dict[str, Any]:
    """Give back each triple that nobody has touched since; the others are kept, with the reason."""
    step = BulkStep.objects.select_related("project", "begun_by").get(undo_job=ctx.job_id)
    _each(ctx, step, ItemState.DONE, _undo)
    with ctx.finish() as result:
        result.update(_counts(step))
    return ctx.result


def _counts(step: BulkStep) -> dict[str, int]:
    return dict(step.items.order_by().values_list("state").annotate(Count("pk")))


def _each(ctx: JobContext, step: BulkStep, state: ItemState, act: Callable[[BulkItem, datetime], None]) -> None:
    """Act on each item in `state`, in the order of its triple. A stop or a kill leaves whole triples behind."""
    every = list(step.items.order_by("triple").values_list("pk", "state"))
    waiting = [key for key, was in every if was == state]
    for number, key in enumerate(waiting, len(every) - len(waiting) + 1):
        with ctx.chunk(f"item:{key}") as fresh:
            if fresh:
                item = BulkItem.objects.get(pk=key)
                item.step = step
                act(item, ctx.at)
        ctx.progress(number, len(every))


def _do(item: BulkItem, at: datetime) -> None:
    try:
        with transaction.atomic():
            item.before = ACTS[BulkKind(item.step.kind)](item, at)
    except Refusal as refusal:
        item.state, item.reason = ItemState.LEFT, refusal.sentence
    else:
        item.state, item.done_at = ItemState.DONE, at
    item.edit_version = Subquery(Triple.objects.filter(pk=item.triple_id).values("edit_version"))
    item.save(update_fields=["state", "reason", "before", "edit_version", "done_at"])


def _undo(item: BulkItem, at: datetime) -> None:
    step = item.step
    try:
        with transaction.atomic():
            triple = _locked(item)
            if Role.LEAD not in locked_roles(step.begun_by, step.project):
                raise Forbidden(NEEDS_LEAD, code="not_a_lead")
            if not BulkItem.objects.filter(untouched(step.begun_by), pk=item.pk).exists():
                raise BulkRefused("Somebody has acted on it since.", code="touched")
            UNDOES[BulkKind(step.kind)](item, triple, at)
    except Refusal as refusal:
        item.state, item.reason = ItemState.KEPT, refusal.sentence
    else:
        item.state = ItemState.UNDONE
    item.save(update_fields=["state", "reason"])


# What is done to one triple: the single actions. Each returns what an undo needs ------------------------------------


def _locked(item: BulkItem) -> Triple:
    return locked_triple(item.step.project, item.triple_id)


def _state_of(triple: Triple) -> dict[str, Any]:
    return {
        "current": triple.current_id,
        "snapshot": triple.snapshot_id,
        "round": triple.round,
        "is_stale": triple.is_stale,
        "resolution": triple.resolution,
        "resolved_at": triple.resolved_at.isoformat() if triple.resolved_at else None,
        "changed_at": triple.changed_at.isoformat(),
    }


def _re_pin(item: BulkItem, at: datetime) -> dict[str, Any]:
    step, triple = item.step, _locked(item)
    before, snapshot = _state_of(triple), writing_snapshot(triple)
    re_pin(project=step.project, triple_id=triple.pk, person=step.begun_by, snapshot=snapshot, at=at)
    return before


def _submit(item: BulkItem, at: datetime) -> dict[str, Any]:
    """Each warning gets the reason that was given for its kind; one that came since the check has none."""
    before, step = _state_of(_locked(item)), item.step
    checked = (
        BulkItem.objects.filter(triple=item.triple_id, step__kind=BulkKind.CHECK, step__begun_by=step.begun_by)
        .filter(state=ItemState.DONE)
        .latest("pk")
    )
    reasons = step.values.get("answers", {})
    answers = {key: reasons[code] for key, code in checked.before["warnings"] if code in reasons}
    submit_triple(project=step.project, triple_id=item.triple_id, author=step.begun_by, answers=answers, at=at)
    return before


def _check(item: BulkItem, at: datetime) -> dict[str, Any]:
    """Nothing of the draft changes: what stops it, and what warns without an answer, by key and kind."""
    step, revision = item.step, item.triple.revision
    checks = checks_of(step.project, step.begun_by, revision)
    return {
        "stop": stops(checks)[0].sentence if stops(checks) else "",
        "warnings": [[check.key, check.code] for check in checks if check.needs_reason],
    }


def _assign(item: BulkItem, at: datetime) -> dict[str, Any]:
    step = item.step
    moved = assign_reviewers(
        project=step.project,
        triple_id=item.triple_id,
        replace=step.values["replace"],
        among=step.values.get("to") or None,
        lead=step.begun_by,
        reason=step.values["reason"],
        at=at,
    )
    return {"seats": [[seat.pk, former] for seat, former in moved]}


def _describe(item: BulkItem, at: datetime) -> dict[str, Any]:
    step = item.step
    triple = _locked(item)
    before = {name: getattr(triple, name) for name in step.values}
    _describe_as(item, step.values, at)
    return before


def _describe_as(item: BulkItem, changes: Mapping[str, Any], at: datetime) -> None:
    step = item.step
    roles = locked_roles(step.begun_by, step.project)
    describe_triple(
        project=step.project, triple_id=item.triple_id, lead=step.begun_by, roles=roles, changes=changes, at=at
    )


def _retire(item: BulkItem, at: datetime) -> dict[str, Any]:
    before, step = _state_of(_locked(item)), item.step
    retire_triple(
        project=step.project,
        triple_id=item.triple_id,
        lead=step.begun_by,
        roles=locked_roles(step.begun_by, step.project),
        reason=RetireReason(step.values["reason"]),
        at=at,
    )
    return before


ACTS: dict[BulkKind, Callable[[BulkItem, datetime], dict[str, Any]]] = {
    BulkKind.RE_PIN: _re_pin,
    BulkKind.ASSIGN: _assign,
    BulkKind.DESCRIBE: _describe,
    BulkKind.RETIRE: _retire,
    BulkKind.CHECK: _check,
    BulkKind.SUBMIT: _submit,
}


# Undoing one triple, which is locked and was not touched since -----------------------------------------------------


def _take_back(item: BulkItem, triple: Triple, step: Step, at: datetime, **changes: Any) -> None:
    """Give back the state before, as if the step had not been: also since when it was in it."""
    before = item.before
    move(
        triple,
        step,
        actor=item.step.begun_by,
        at=at,
        round=before["round"],
        changed_at=datetime.fromisoformat(before["changed_at"]),
        **changes,
    )


def _resolved(item: BulkItem) -> dict[str, Any]:
    before = item.before
    return {
        "is_stale": before["is_stale"],
        "resolution": before["resolution"],
        "resolved_at": datetime.fromisoformat(before["resolved_at"]),
    }


def _close_round(item: BulkItem, triple: Triple, at: datetime) -> None:
    """Nobody has answered: the seats are released, and their reviewers told."""
    SubmitRefused.raise_for(revoked_refusal(triple, at=at), code="permission_revoked")
    for seat in live_seats(triple.revision).select_related("reviewer", "revision__triple__project"):
        if seat.answered_at is not None:
            raise BulkRefused("A reviewer has answered it since.", code="answered")
        release(seat, at)
        notices.seat_taken_back(seat, by=item.step.begun_by, at=at)


def _undo_re_pin(item: BulkItem, triple: Triple, at: datetime) -> None:
    _close_round(item, triple, at)
    before = item.before
    _take_back(
        item,
        triple,
        Step.UNDO_RE_PIN,
        at,
        current_id=before["current"],
        snapshot_id=before["snapshot"],
        **_resolved(item),
    )


def _undo_submit(item: BulkItem, triple: Triple, at: datetime) -> None:
    """A submitted revision never changes, so its wording goes on in a new draft."""
    _close_round(item, triple, at)
    revision = add_revision(triple, item.step.begun_by, triple.revision.snapshot, at)
    _take_back(item, triple, Step.UNDO_SUBMIT, at, current=revision)


def _undo_retire(item: BulkItem, triple: Triple, at: datetime) -> None:
    SubmitRefused.raise_for(revoked_refusal(triple, at=at), code="permission_revoked")
    _take_back(item, triple, Step.UNDO_RETIRE, at, retire_reason="", **_resolved(item))
    if not triple.is_stale:
        mark_if_changed(triple, at)


def _undo_assign(item: BulkItem, triple: Triple, at: datetime) -> None:
    step, seats = item.step, [(seat, former) for seat, former in item.before["seats"]]
    take_back_assignment(project=step.project, triple_id=triple.pk, seats=seats, lead=step.begun_by, at=at)


def _undo_describe(item: BulkItem, triple: Triple, at: datetime) -> None:
    _describe_as(item, item.before, at)


UNDOES: dict[BulkKind, Callable[[BulkItem, Triple, datetime], None]] = {
    BulkKind.RE_PIN: _undo_re_pin,
    BulkKind.ASSIGN: _undo_assign,
    BulkKind.DESCRIBE: _undo_describe,
    BulkKind.RETIRE: _undo_retire,
    BulkKind.SUBMIT: _undo_submit,
}
