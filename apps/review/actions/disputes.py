"""What can end a dispute, and the thread that leads there."""

from datetime import datetime
from enum import Enum
from typing import NamedTuple

from django.db import transaction

from apps.accounts.models import Project, User
from apps.common.errors import Refusal
from apps.review import rules
from apps.review.actions.rounds import locked_with_standing, resolve, start_round
from apps.review.enums import Category, ResolutionKind
from apps.review.models import DisputeMessage
from apps.triples.actions import add_revision, copy_wording, discard_open_revision, start_draft
from apps.triples.enums import Step
from apps.triples.models import Triple
from apps.triples.workflow import move

FEWEST_CHILDREN, MOST_CHILDREN = 2, 6


class DisputeRefused(Refusal):
    """The dispute cannot be ended, or written in, this way."""


class Decision(Enum):
    ACCEPT = "accept"
    RETURN = "return"
    DROP = "drop"


class Claim(NamedTuple):
    """One atomic claim of a compound triple."""

    question: str
    answer: str


def _needed(text: str, what: str) -> str:
    if not text.strip():
        raise DisputeRefused(f"{what} is needed.", code="reason_missing")
    return text.strip()


@transaction.atomic
def post_message(*, project: Project, triple_id: int, author: User, text: str, at: datetime) -> DisputeMessage:
    triple, standing = locked_with_standing(project, triple_id, author)
    if reason := rules.message_refusal(triple, standing):
        raise DisputeRefused(reason, code="not_yours_to_write")
    return DisputeMessage.objects.create(
        triple=triple, round=triple.round, author=author, text=_needed(text, "A text"), posted_at=at
    )


@transaction.atomic
def withdraw_flag(*, project: Project, triple_id: int, reviewer: User, policy: Category, at: datetime) -> Triple:
    """The flagger takes the flag back because a policy settles it; the triple is accepted."""
    triple, standing = locked_with_standing(project, triple_id, reviewer)
    if reason := rules.withdraw_flag_refusal(triple, standing):
        raise DisputeRefused(reason, code="not_withdrawable")
    discard_open_revision(triple)
    changes = resolve(triple, ResolutionKind.POLICY, at=at, decided_by=reviewer, category=policy.value)
    return move(triple, Step.WITHDRAW_FLAG, actor=reviewer, at=at, **changes)


@transaction.atomic
def split_triple(*, project: Project, triple_id: int, author: User, claims: list[Claim], at: datetime) -> list[Triple]:
    """One draft for each atomic claim, with the parent's blocks and evidence to start from. Returns the drafts."""
    triple, standing = locked_with_standing(project, triple_id, author)
    if reason := rules.split_refusal(triple, standing):
        raise DisputeRefused(reason, code="not_splittable")
    if not FEWEST_CHILDREN <= len(claims) <= MOST_CHILDREN:
        raise DisputeRefused(
            f"A split makes {FEWEST_CHILDREN} to {MOST_CHILDREN} claims, not {len(claims)}.", code="claims"
        )
    if any(not claim.question.strip() for claim in claims):
        raise DisputeRefused("Each claim needs a question of its own.", code="claims")
    discard_open_revision(triple)
    wording = copy_wording(triple, triple.revision)
    children = [
        start_draft(
            project=project,
            author=author,
            snapshot=triple.snapshot,
            wording=wording._replace(question=claim.question, answer=claim.answer),
            parent=triple,
            at=at,
        )
        for claim in claims
    ]
    labels = ", ".join(child.label for child in children)
    resolve(triple, ResolutionKind.SPLIT, at=at, decided_by=author, reason=f"Split into {labels}.")
    move(triple, Step.SPLIT, actor=author, at=at, reason=f"Split into {labels}.")
    return children


@transaction.atomic
def drop_triple(*, project: Project, triple_id: int, author: User, reason: str, at: datetime) -> Triple:
    triple, standing = locked_with_standing(project, triple_id, author)
    if refusal := rules.drop_refusal(triple, standing):
        raise DisputeRefused(refusal, code="not_droppable")
    reason = _needed(reason, "A reason")
    discard_open_revision(triple)
    resolve(triple, ResolutionKind.DROPPED, at=at, decided_by=author, reason=reason)
    return move(triple, Step.DROP, actor=author, at=at, reason=reason)


@transaction.atomic
def adjudicate(
    *, project: Project, triple_id: int, lead: User, decision: Decision, reason: str, at: datetime
) -> Triple:
    """A lead without a part in it decides: accepted as it stands, reviewed again, or dropped. The reason is kept."""
    triple, standing = locked_with_standing(project, triple_id, lead)
    if refusal := rules.adjudicate_refusal(triple, standing):
        raise DisputeRefused(refusal, code="not_adjudicable")
    reason = _needed(reason, "A reason")
    discard_open_revision(triple)
    kind = ResolutionKind.DROPPED if decision is Decision.DROP else ResolutionKind.ADJUDICATED
    changes = resolve(triple, kind, at=at, decided_by=lead, reason=reason)
    if decision is Decision.ACCEPT:
        return move(triple, Step.ADJUDICATE_ACCEPT, actor=lead, at=at, reason=reason, **changes)
    if decision is Decision.DROP:
        return move(triple, Step.ADJUDICATE_DROP, actor=lead, at=at, reason=reason)
    again = add_revision(triple, triple.author, triple.snapshot, at)
    return start_round(triple, again, Step.ADJUDICATE_RETURN, actor=lead, at=at, reason=reason)
