"""Passages that may be right as well: proposed, answered by two reviewers, added or not. Notes on missed questions."""

from collections.abc import Iterable
from datetime import datetime

from django.db import transaction
from django.http import Http404

from apps.accounts.models import Project, User
from apps.accounts.rules import locked_roles
from apps.audit.actions import record
from apps.common.errors import Refusal
from apps.corpus.models import BlockVersion, SnapshotBlock
from apps.review import rules
from apps.review.actions import notices
from apps.review.actions.rounds import locked_with_participation, resolve
from apps.review.enums import (
    CandidateChoice,
    CandidateState,
    CandidateStep,
    NoteKind,
    Reason,
    ResolutionKind,
    VerdictChoice,
)
from apps.review.models import CandidateAnswer, CandidateBlock, MissNote, ReviewSeat, Verdict
from apps.review.selectors.candidate_blocks import ASKED, live_answers
from apps.review.workflow import candidate_step, move
from apps.triples.actions.triples import extended_revision
from apps.triples.core.evidence import Span
from apps.triples.enums import Step
from apps.triples.models import Revision, Triple
from apps.triples.rules import READERS
from apps.triples.selectors.draft_checks import BlockChoice
from apps.triples.selectors.triples import locked_triple
from apps.triples.workflow import move as move_triple


class CandidateRefused(Refusal):
    """The passage cannot be proposed, answered, withdrawn or decided."""


# Proposing ---------------------------------------------------------------------------------------------------------


@transaction.atomic
def propose_block(
    *,
    project: Project,
    triple_id: int,
    version: BlockVersion,
    spans: Iterable[Span] = (),
    person: User,
    evaluation: int | None = None,
    at: datetime,
) -> CandidateBlock:
    """Ask two reviewers whether this block version answers an accepted triple as well.

    `spans` mark what in it answers; without them all of its text counts. Proposed twice, it is asked once: the second
    call returns what is being asked, whoever proposed it.
    """
    triple = locked_triple(project, triple_id)
    CandidateRefused.raise_for(rules.propose_refusal(triple, locked_roles(person, project)), code="not_proposable")
    marked = [[start, end] for start, end in spans]
    if any(not 0 <= start < end <= len(version.text) for start, end in marked):
        raise CandidateRefused("What is marked lies outside of the passage. Mark it again.", code="outside")
    _refuse_known(triple, version)
    asked = CandidateBlock.objects.filter(triple=triple, version=version, state__in=ASKED).first()
    if asked is not None:
        return asked
    candidate = CandidateBlock.objects.create(
        triple=triple,
        revision=triple.revision,
        version=version,
        spans=marked,
        proposed_by=person,
        proposed_at=at,
        evaluation=evaluation,
    )
    after = {"triple": triple.label, "block": str(version.block), "evaluation": evaluation}
    record(project=project, actor=person, action="candidate_block.propose", obj=candidate, after=after, at=at)
    return candidate


def _refuse_known(triple: Triple, version: BlockVersion) -> None:
    """The triple's snapshot must have this text; nobody is asked about what is expected or was rejected."""
    held = SnapshotBlock.objects.filter(snapshot=triple.revision.snapshot, block=version.block).first()
    if held is None or held.version_id != version.pk:
        word = "does not have this passage" if held is None else "has another text of this passage"
        raise CandidateRefused(f"The snapshot of {triple.label} {word}.", code="other_snapshot")
    if triple.revision.expected_blocks.filter(version=version).exists():
        raise CandidateRefused(f"{triple.label} expects this passage already.", code="expected")
    closed = CandidateBlock.objects.filter(triple=triple, version=version, state=CandidateState.REJECTED)
    if closed.filter(revision__question=triple.revision.question).exists():
        sentence = f"It was proposed for {triple.label} before, and not added. The reasons are on the page of the Q&A."
        raise CandidateRefused(sentence, code="rejected")


@transaction.atomic
def withdraw_candidate(*, project: Project, pk: int, person: User, at: datetime) -> CandidateBlock:
    """Take back what one has proposed, while it is open. Answers given so far are kept and count no more."""
    _, candidate = _locked(project, pk)
    CandidateRefused.raise_for(rules.candidate_withdraw_refusal(candidate, person.pk), code="not_withdrawable")
    return move(candidate, CandidateStep.WITHDRAW, actor=person, at=at)


def _locked(project: Project, pk: int) -> tuple[Triple, CandidateBlock]:
    """The triple's row first, as everywhere, then the candidate's."""
    triple_id = CandidateBlock.objects.filter(pk=pk, triple__project=project).values_list("triple", flat=True).first()
    if triple_id is None:
        raise Http404("No such passage is being asked about.")
    triple = locked_triple(project, triple_id)
    rows = CandidateBlock.objects.select_for_update(of=("self",)).select_related("version__block", "proposed_by")
    candidate = rows.get(pk=pk)
    candidate.triple = triple
    return triple, candidate


# Answering ---------------------------------------------------------------------------------------------------------


@transaction.atomic
def answer_candidate(
    *,
    project: Project,
    pk: int,
    reviewer: User,
    choice: str,
    note: str = "",
    idempotency_key: str,
    at: datetime,
) -> CandidateAnswer:
    """Say whether the passage is right as well. A second answer of the same person supersedes the first.

    The same key twice has one effect and the same answer. The second person's answer closes the question: two
    confirmations add the block, two rejections do not, and where they differ a lead decides.
    """
    triple, candidate = _locked(project, pk)
    sent = CandidateAnswer.objects.filter(reviewer=reviewer, idempotency_key=idempotency_key).first()
    if sent is not None:
        if (sent.candidate_id, sent.choice) != (candidate.pk, choice):
            raise CandidateRefused("This key was used for another answer.", code="key_reused")
        return sent
    _, participation = locked_with_participation(project, triple.pk, reviewer)
    CandidateRefused.raise_for(rules.answer_refusal(candidate, triple, participation), code="no_answer")
    if choice not in CandidateChoice.values:
        raise CandidateRefused("An answer is “confirm” or “reject”.", code="bad_answer")
    answer = _store(candidate, reviewer, choice, note.strip(), idempotency_key, at)
    _close_if_both_in(triple, candidate, reviewer, at)
    return answer


def _store(
    candidate: CandidateBlock, reviewer: User, choice: str, note: str, key: str, at: datetime
) -> CandidateAnswer:
    live = live_answers(candidate)
    own = next((answer for answer in live if answer.reviewer_id == reviewer.pk), None)
    return CandidateAnswer.objects.create(
        candidate=candidate,
        number=own.number if own else len(live) + 1,
        reviewer=reviewer,
        choice=choice,
        note=note,
        idempotency_key=key,
        supersedes=own,
        given_at=at,
    )


def _close_if_both_in(triple: Triple, candidate: CandidateBlock, last: User, at: datetime) -> None:
    """One answer changes nothing that others could see."""
    step = candidate_step([answer.choice for answer in live_answers(candidate)])
    if step is None:
        return
    added = _add(triple, candidate, last, at) if step is CandidateStep.AGREE else None
    if added is not None:
        resolve(triple, ResolutionKind.CONSENSUS, at=at)
    move(candidate, step, actor=last, at=at, added=added)
    if step is not CandidateStep.DISAGREE:
        notices.candidate_closed(candidate, by=last, at=at)


@transaction.atomic
def decide_candidate(*, project: Project, pk: int, lead: User, step: str, reason: str, at: datetime) -> CandidateBlock:
    """A lead without a part decides between two answers that differ, with a reason."""
    triple, candidate = _locked(project, pk)
    _, participation = locked_with_participation(project, triple.pk, lead)
    has_answered = candidate.answers.filter(reviewer=lead).exists()
    if refusal := rules.decide_refusal(candidate, triple, participation, has_answered):
        raise CandidateRefused(refusal, code="not_decidable")
    CandidateRefused.raise_for(rules.decision_fault(step, reason), code="bad_decision")
    reason, added = reason.strip(), None
    if step == CandidateStep.DECIDE_ADD:
        added = _add(triple, candidate, lead, at)
        resolve(triple, ResolutionKind.ADJUDICATED, at=at, decided_by=lead, reason=reason)
    move(candidate, CandidateStep(step), actor=lead, at=at, reason=reason, added=added, decided_by=lead)
    notices.candidate_closed(candidate, by=lead, at=at)
    return candidate


# Adding ------------------------------------------------------------------------------------------------------------


def _add(triple: Triple, candidate: CandidateBlock, actor: User, at: datetime) -> Revision:
    """The triple's next revision, with the block and the two answers as its verdicts. It stays accepted.

    Other passages that are being asked about move on to the new revision.
    """
    choice = BlockChoice(candidate.version_id, tuple((start, end) for start, end in candidate.spans))
    revision = extended_revision(triple, choice, at)
    for answer in live_answers(candidate):
        _as_verdict(revision, answer, candidate, at)
    reason = f"{candidate.version.block} answers it as well"
    move_triple(triple, Step.ADD_BLOCK, actor=actor, at=at, reason=reason, round=revision.round, current=revision)
    others = CandidateBlock.objects.filter(triple=triple, state__in=ASKED).exclude(pk=candidate.pk)
    others.update(revision=revision)
    return revision


def _as_verdict(revision: Revision, answer: CandidateAnswer, candidate: CandidateBlock, at: datetime) -> None:
    seat = ReviewSeat.objects.create(
        revision=revision,
        number=answer.number,
        reviewer=answer.reviewer,
        opened_at=candidate.proposed_at,
        answered_at=answer.given_at,
        closed_at=at,
    )
    is_flag = answer.choice == CandidateChoice.REJECT
    Verdict.objects.create(
        revision=revision,
        seat=seat,
        reviewer=answer.reviewer,
        choice=VerdictChoice.FLAG if is_flag else VerdictChoice.CONFIRM,
        reasons=[Reason.WRONG_BLOCK] if is_flag else [],
        note=answer.note,
        idempotency_key=f"candidate-block-{candidate.pk}",
        given_at=answer.given_at,
    )


# Notes on missed questions -----------------------------------------------------------------------------------------


@transaction.atomic
def note_miss(
    *,
    project: Project,
    triple_id: int,
    kind: str,
    passage: str = "",
    text: str = "",
    person: User,
    evaluation: int | None = None,
    at: datetime,
) -> MissNote:
    """Record that a returned passage is wrong, or that the question is unclear, which its authors and leads are told.

    The triple stays as it is until its author or a lead rewords it. Made twice, it is one.
    """
    triple, participation = locked_with_participation(project, triple_id, person)
    if not participation.roles & set(READERS):
        raise CandidateRefused(rules.NEEDS_WORKER, code="not_noted")
    found = MissNote.objects.filter(revision=triple.revision, kind=kind, passage=passage, withdrawn_at=None).first()
    if found is not None:
        return found
    note = MissNote.objects.create(
        triple=triple,
        revision=triple.revision,
        kind=NoteKind(kind),
        passage=passage,
        text=text.strip(),
        made_by=person,
        made_at=at,
        evaluation=evaluation,
    )
    record(project=project, actor=person, action=f"miss.{kind}", obj=triple, after={"text": note.text}, at=at)
    if note.kind == NoteKind.UNCLEAR:
        notices.question_unclear(triple, note, at)
    return note


@transaction.atomic
def withdraw_note(*, project: Project, pk: int, person: User, at: datetime) -> MissNote:
    """Take back one's own note."""
    note = MissNote.objects.select_for_update(of=("self",)).filter(pk=pk, triple__project=project).first()
    if note is None or note.withdrawn_at is not None:
        raise Http404("No such note.")
    if note.made_by_id != person.pk:
        raise CandidateRefused(f"Only {note.made_by}, who made it, can take it back.", code="not_yours")
    note.withdrawn_at = at
    note.save(update_fields=["withdrawn_at"])
    record(project=project, actor=person, action="miss.withdraw", obj=note.triple, before={"kind": note.kind}, at=at)
    return note
