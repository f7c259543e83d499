"""Giving verdicts, and closing the round with the second one."""

from datetime import datetime

from django.db import transaction

from apps.accounts.models import Project, User
from apps.accounts.rules import locked_roles
from apps.common.errors import Refusal
from apps.review import rules
from apps.review.actions import notices
from apps.review.actions.rounds import resolve
from apps.review.core.outcome import STEP_AFTER, outcome_of
from apps.review.enums import Outcome, ResolutionKind
from apps.review.models import ReviewSeat, Verdict
from apps.review.selectors.participation import Participation, participation_with
from apps.review.selectors.seats import live_seats
from apps.triples.execution.staleness import mark_if_changed
from apps.triples.models import Triple
from apps.triples.selectors.triples import locked_triple
from apps.triples.workflow import move


class VerdictRefused(Refusal):
    """The verdict cannot be stored."""


@transaction.atomic
def give_verdict(
    *,
    project: Project,
    triple_id: int,
    revision_id: int,
    reviewer: User,
    choice: str,
    reasons: list[str],
    category: str = "",
    note: str = "",
    idempotency_key: str,
    at: datetime,
) -> Verdict:
    """Confirm or flag the current revision. A second answer before the round closes supersedes the first.

    The same key twice has one effect and the same answer. The second of two verdicts closes the round.
    """
    triple = locked_triple(project, triple_id)
    roles = locked_roles(reviewer, project)
    participation, sent = participation_with(triple, reviewer, roles, key=idempotency_key)
    if sent is not None:
        return _same_or_refused(sent, revision_id, choice, reasons)
    seat = _seat_for(triple, participation, revision_id)
    if reason := rules.flag_fault(choice, reasons, category, note):
        raise VerdictRefused(reason, code="bad_verdict")
    verdict = Verdict.objects.create(
        revision=triple.revision,
        seat=seat,
        reviewer=reviewer,
        choice=choice,
        reasons=list(reasons),
        category=category,
        note=note.strip(),
        idempotency_key=idempotency_key,
        supersedes=participation.own,
        given_at=at,
    )
    if seat.answered_at is None:
        seat.answered_at = at
        seat.save(update_fields=["answered_at"])
    notices.answered(triple, reviewer, at)
    others = [given for given in participation.verdicts if given != participation.own]
    _close_if_both_in(triple, [*others, verdict], at)
    return verdict


def _same_or_refused(sent: Verdict, revision_id: int, choice: str, reasons: list[str]) -> Verdict:
    if (sent.revision_id, sent.choice, sent.reasons) != (revision_id, choice, list(reasons)):
        raise VerdictRefused("This key was used for another verdict.", code="key_reused")
    return sent


def _seat_for(triple: Triple, participation: Participation, revision_id: int) -> ReviewSeat:
    """The seat from which the person answers this revision. Raises VerdictRefused where they may not."""
    if triple.current_id != revision_id:
        raise VerdictRefused("This revision is no longer under review.", code="other_revision")
    if reason := rules.verdict_refusal(triple, participation):
        raise VerdictRefused(reason, code="no_verdict")
    assert participation.seat is not None  # checked by the rule
    return participation.seat


def _close_if_both_in(triple: Triple, verdicts: list[Verdict], at: datetime) -> None:
    """Move the triple by the step that two verdicts cause. One verdict changes nothing that others could see.

    `verdicts` are those in force, the last one last.
    """
    last = verdicts[-1].reviewer
    outcome = outcome_of([verdict.choice for verdict in verdicts])
    if outcome is Outcome.PENDING:
        return
    live_seats(triple.revision).update(closed_at=at)
    changes: dict = {}
    if outcome is Outcome.CONSENSUS:
        first_time = triple.round == 1 and not triple.was_disputed
        kind = ResolutionKind.CONSENSUS if first_time else ResolutionKind.REVISED
        changes = resolve(triple, kind, at=at)
    elif outcome is Outcome.DISPUTE:
        changes = {"was_disputed": True}
    else:
        resolve(triple, ResolutionKind.DROPPED, at=at, reason="Both reviewers flagged it.")
    move(triple, STEP_AFTER[outcome], actor=last, at=at, **changes)
    if outcome is Outcome.CONSENSUS:
        mark_if_changed(triple, at)
    notices.round_closed(triple, outcome, at)
