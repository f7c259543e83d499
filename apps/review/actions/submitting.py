"""Sending a revision to its two reviewers, and their verdicts."""

from collections.abc import Mapping
from datetime import datetime
from types import MappingProxyType

from django.db import transaction

from apps.accounts.models import Project, User
from apps.accounts.rules import locked_roles
from apps.accounts.selectors import roles_of
from apps.common.errors import Refusal
from apps.corpus.models import Snapshot
from apps.review import rules
from apps.review.actions import notices
from apps.review.actions.rounds import SubmitRefused, locked_with_participation, resolve, start_round
from apps.review.enums import Outcome, ResolutionKind
from apps.review.models import ReviewSeat, Verdict
from apps.review.selectors.candidate_blocks import has_answered_about, is_doubted
from apps.review.selectors.participation import Participation, participation_with
from apps.review.selectors.seats import live_seats
from apps.review.workflow import STEP_AFTER, outcome_of
from apps.triples.actions.triples import add_revision, copy_wording, discard_open_revision, save_draft
from apps.triples.core.checks import as_drafted, as_submitted, stop_sentence, stored_answers
from apps.triples.enums import State, Step
from apps.triples.execution.staleness import mark_if_changed
from apps.triples.models import Revision, Triple
from apps.triples.rules import writer_refusal
from apps.triples.selectors.draft_checks import Wording, checks_of
from apps.triples.selectors.staleness import fates_in
from apps.triples.selectors.triples import locked_triple, open_revision
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
    VerdictRefused.raise_for(rules.flag_fault(choice, reasons, category, note), code="bad_verdict")
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
    VerdictRefused.raise_for(rules.verdict_refusal(triple, participation), code="no_verdict")
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


NO_ANSWERS: Mapping[str, str] = MappingProxyType({})
ACCEPTED_BEFORE = "It was accepted before with these words and this evidence."


@transaction.atomic
def submit_triple(
    *,
    project: Project,
    triple_id: int,
    author: User,
    at: datetime,
    answers: Mapping[str, str] = NO_ANSWERS,
) -> Triple:
    """Send the open revision to two reviewers: a first draft, the answer to a dispute or to a doubt, or a re-pin.

    `answers` give the reason why a warning is no fault, by the key of the check, in addition to those of the draft.
    """
    triple, participation = locked_with_participation(project, triple_id, author)
    revision = open_revision(triple)
    if revision is None:
        raise SubmitRefused("No revision is open; there is nothing to submit.", code="no_open_revision")
    return _submitted(triple, participation, revision, answers, at)


def _submitted(
    triple: Triple,
    participation: Participation,
    revision: Revision,
    answers: Mapping[str, str],
    at: datetime,
    *,
    otherwise: str = "",
) -> Triple:
    """The triple is locked, and `revision` is its open one. `otherwise` is the reason of warnings without an answer."""
    author = participation.person
    reason = rules.submit_refusal(triple, participation, revision.author_id == author.pk)
    SubmitRefused.raise_for(reason, code="not_submittable")
    step = _step_of_submitting(triple)
    SubmitRefused.raise_for(_unchanged_refusal(triple, revision, step), code="unchanged")
    revision.warnings = as_drafted(stored_answers(revision.warnings) | dict(answers))
    checks = checks_of(triple.project, author, revision)
    checks = [check._replace(answer=check.answer or otherwise) for check in checks]
    SubmitRefused.raise_for(stop_sentence(checks), code="checks")
    revision.warnings = as_submitted(checks)
    start_round(triple, revision, step, actor=author, at=at)
    if step is not Step.SUBMIT:
        notices.revised(triple, by=author, at=at)
    return triple


def _step_of_submitting(triple: Triple) -> Step:
    if triple.state == State.ACCEPTED:
        return Step.RE_PIN if triple.is_stale else Step.REWORD
    return Step.REVISE if triple.state == State.DISPUTED else Step.SUBMIT


def _unchanged_refusal(triple: Triple, revision: Revision, step: Step) -> str | None:
    """A flag is answered by another wording, a doubt about the question by another question."""
    if step is Step.REVISE:
        return rules.unchanged_refusal(copy_wording(triple, triple.revision), copy_wording(triple, revision))
    if step is Step.REWORD:
        return rules.same_question_refusal(triple.revision.question, revision.question)
    return None


@transaction.atomic
def begin_revision(*, project: Project, triple_id: int, person: User, snapshot: Snapshot, at: datetime) -> Revision:
    """Open the next revision of a disputed triple, of a stale one on the newer `snapshot`, or of an unclear question.

    The triple's state does not change until it is submitted. A second call returns the open revision.
    """
    triple, participation = locked_with_participation(project, triple_id, person)
    SubmitRefused.raise_for(_begin_refusal(triple, participation), code="not_revisable")
    return _begun(triple, participation, open_revision(triple), snapshot, at)


def _begun(
    triple: Triple, participation: Participation, revision: Revision | None, snapshot: Snapshot, at: datetime
) -> Revision:
    """The triple is locked, `revision` is its open one, and the person may begin its next one or go on with it."""
    person = participation.person
    if revision is None:
        return add_revision(triple, person, snapshot, at)
    if revision.author_id != person.pk and writer_refusal(roles_of(revision.author, triple.project)):
        discard_open_revision(triple)  # its author left, and nobody else could continue it
        return add_revision(triple, person, snapshot, at)
    SubmitRefused.raise_for(rules.begun_refusal(revision, participation), code="being_written")
    return revision


def _begin_refusal(triple: Triple, participation: Participation) -> str | None:
    if triple.state != State.ACCEPTED:
        return rules.revise_refusal(triple, participation)
    return rules.repin_refusal(triple, participation) if triple.is_stale else _reword_refusal(triple, participation)


def _reword_refusal(triple: Triple, participation: Participation) -> str | None:
    """What has been begun may be ended, also when the doubt was taken back since."""
    return rules.reword_refusal(
        triple,
        participation,
        is_doubted=is_doubted(triple) or open_revision(triple) is not None,
        has_answered=has_answered_about(triple, participation.person),
    )


@transaction.atomic
def revise(
    *, project: Project, triple_id: int, author: User, snapshot: Snapshot, wording: Wording, at: datetime
) -> Triple:
    """Answer a dispute with a new revision and a new round, in one step."""
    triple, participation = locked_with_participation(project, triple_id, author)
    SubmitRefused.raise_for(rules.revise_refusal(triple, participation), code="not_revisable")
    return _revise_at_once(project, triple_id, author, snapshot, wording, at)


@transaction.atomic
def reword(
    *, project: Project, triple_id: int, person: User, snapshot: Snapshot, wording: Wording, at: datetime
) -> Triple:
    """Answer a doubt about the question of an accepted triple with a new revision and a new round, in one step."""
    triple, participation = locked_with_participation(project, triple_id, person)
    SubmitRefused.raise_for(_reword_refusal(triple, participation), code="not_rewordable")
    return _revise_at_once(project, triple_id, person, snapshot, wording, at)


def _revise_at_once(
    project: Project, triple_id: int, author: User, snapshot: Snapshot, wording: Wording, at: datetime
) -> Triple:
    revision = begin_revision(project=project, triple_id=triple_id, person=author, snapshot=snapshot, at=at)
    save_draft(
        project=project,
        triple_id=triple_id,
        author=author,
        seen_version=revision.triple.edit_version,
        snapshot=snapshot,
        wording=wording,
        at=at,
    )
    return submit_triple(project=project, triple_id=triple_id, author=author, at=at)


@transaction.atomic
def re_pin(*, project: Project, triple_id: int, person: User, snapshot: Snapshot, at: datetime) -> Triple:
    """Pin a stale triple to the new text with the evidence still in it, and have it reviewed again.

    Refused when the new text does not contain all of the evidence: then it is rewritten on the bench. A warning that
    nobody has answered, as of a set reviewed elsewhere, asks nobody anew while the wording is the accepted one.
    """
    triple, participation = locked_with_participation(project, triple_id, person)
    SubmitRefused.raise_for(rules.repin_refusal(triple, participation), code="not_repinnable")
    (blocks,) = fates_in(snapshot, [triple.revision.pk]).values()
    SubmitRefused.raise_for(rules.evidence_refusal(blocks), code="evidence_changed")
    begun = open_revision(triple)
    revision = _begun(triple, participation, begun, snapshot, at)
    otherwise = "" if begun else ACCEPTED_BEFORE
    return _submitted(triple, participation, revision, NO_ANSWERS, at, otherwise=otherwise)
