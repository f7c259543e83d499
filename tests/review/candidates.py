"""Candidate blocks for tests, walked to their state by the real actions."""

import itertools

from apps.accounts.models import Project, User
from apps.accounts.selectors import Member, roles_of
from apps.review.actions.candidate_blocks import (
    answer_candidate,
    decide_candidate,
    note_miss,
    propose_block,
    withdraw_candidate,
)
from apps.review.enums import CandidateChoice, CandidateState, CandidateStep, NoteKind
from apps.review.models import CandidateBlock, MissNote
from apps.triples.models import Triple
from tests.factories import AT, lead_of
from tests.review.factories import make_accepted, reload, reviewers_of
from tests.triples.factories import version_of

_keys = itertools.count(1)
CONFIRM, REJECT = CandidateChoice.CONFIRM, CandidateChoice.REJECT


def propose(triple: Triple, person: User, key: str = "backups", **more) -> CandidateBlock:
    triple = reload(triple)
    version = version_of(triple.revision.snapshot, key)
    return propose_block(project=triple.project, triple_id=triple.pk, version=version, person=person, at=AT, **more)


def make_open(project: Project, *, key: str = "backups", **draft) -> tuple[CandidateBlock, list[User]]:
    """A candidate block that a lead proposed, and the two reviewers of its triple, who are asked like others."""
    triple = make_accepted(project, **draft)
    return propose(triple, lead_of(project), key, evaluation=7), reviewers_of(triple)


def say(candidate: CandidateBlock, reviewer: User, choice: str = CONFIRM, **more):
    return answer_candidate(
        project=candidate.triple.project,
        pk=candidate.pk,
        reviewer=reviewer,
        choice=choice,
        idempotency_key=f"candidate-key-{next(_keys)}",
        at=AT,
        **more,
    )


def settle(candidate: CandidateBlock, lead: User, step: str, reason: str = "Read both.") -> CandidateBlock:
    return decide_candidate(
        project=candidate.triple.project, pk=candidate.pk, lead=lead, step=step, reason=reason, at=AT
    )


def doubt(triple: Triple, person: User, text: str = "") -> MissNote:
    """Somebody who read why a system missed it finds the question unclear."""
    kind = NoteKind.UNCLEAR
    return note_miss(project=triple.project, triple_id=triple.pk, kind=kind, text=text, person=person, at=AT)


def fresh(candidate: CandidateBlock) -> CandidateBlock:
    return CandidateBlock.objects.select_related("triple__project", "version__block", "proposed_by").get(
        pk=candidate.pk
    )


def member(project: Project, person: User) -> Member:
    return Member(person, project, roles_of(person, project))


def make_candidate_block(project: Project, state: str, decider: User) -> CandidateBlock:
    """A candidate block in `state`; `decider` is a lead without a part."""
    candidate, (one, two) = make_open(project)
    said = {
        CandidateState.CONFIRMED: (CONFIRM, CONFIRM),
        CandidateState.REJECTED: (REJECT, REJECT),
        CandidateState.DISPUTED: (CONFIRM, REJECT),
    }.get(CandidateState(state), ())
    for person, choice in zip((one, two), said, strict=False):
        say(candidate, person, choice)
    if state == CandidateState.WITHDRAWN:
        withdraw_candidate(project=project, pk=candidate.pk, person=candidate.proposed_by, at=AT)
    return fresh(candidate)


DECIDED = {CandidateStep.DECIDE_ADD: CandidateState.CONFIRMED, CandidateStep.DECIDE_REJECT: CandidateState.REJECTED}
