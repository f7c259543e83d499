"""Decisions on a machine-written candidate: adopt it, and become its author, or reject it."""

from datetime import datetime

from django.db import transaction

from apps.accounts.models import Project, User
from apps.accounts.selectors import roles_of
from apps.common.errors import Forbidden, Refusal
from apps.triples import rules
from apps.triples.enums import Step
from apps.triples.execution.staleness import candidate_adopted
from apps.triples.models import Rejection, Triple
from apps.triples.selectors.triples import locked_triple
from apps.triples.workflow import move

LONGEST_REASON = 2_000


class CandidateRefused(Refusal):
    """The candidate can be neither adopted nor rejected."""


@transaction.atomic
def adopt_candidate(*, project: Project, triple_id: int, person: User, at: datetime) -> Triple:
    """Make the person the author of the draft. Its importer has no part in it from then on."""
    triple = _locked_candidate(project, triple_id, person)
    triple.revisions.filter(submitted_at=None).update(author=person)
    move(triple, Step.ADOPT, actor=person, at=at, author=person, adopted_by=person)
    candidate_adopted(triple, by=person, at=at)
    return triple


@transaction.atomic
def reject_candidate(*, project: Project, triple_id: int, person: User, reason: str, at: datetime) -> Triple:
    """Withdraw the candidate, with the reason on the record. The same entry is not imported again."""
    triple = _locked_candidate(project, triple_id, person)
    reason = reason.strip()
    if not reason:
        raise CandidateRefused("A rejection needs a reason.", code="reason_missing")
    if len(reason) > LONGEST_REASON:
        raise CandidateRefused(f"A reason has at most {LONGEST_REASON:,} characters.", code="reason_too_long")
    Rejection.objects.create(triple=triple, reason=reason, rejected_by=person, rejected_at=at)
    return move(triple, Step.WITHDRAW, actor=person, at=at, reason=reason)


def _locked_candidate(project: Project, triple_id: int, person: User) -> Triple:
    triple = locked_triple(project, triple_id)
    if reason := rules.candidate_refusal(roles_of(person, project), triple):
        error = Forbidden if reason == rules.NEEDS_WRITER else CandidateRefused
        raise error(reason, code="not_a_candidate")
    return triple
