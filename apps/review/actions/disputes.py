"""The ends of a dispute, and its thread of messages."""

from datetime import datetime
from typing import NamedTuple

from django.db import transaction

from apps.accounts.models import Project, User
from apps.common.errors import Refusal
from apps.review import rules
from apps.review.actions import notices
from apps.review.actions.rounds import locked_with_participation, resolve, start_round
from apps.review.enums import Category, Decision, ResolutionKind
from apps.review.models import DisputeMessage
from apps.triples.actions.triples import add_revision, copy_wording, discard_open_revision, start_draft
from apps.triples.enums import Step
from apps.triples.execution.staleness import mark_if_changed
from apps.triples.models import Triple
from apps.triples.selectors.draft_checks import BlockChoice
from apps.triples.workflow import move

FEWEST_CHILDREN, MOST_CHILDREN = 2, 6


class DisputeRefused(Refusal):
    """The dispute cannot be ended, or written in, this way."""


class Claim(NamedTuple):
    """One atomic claim of a compound triple, with its evidence."""

    question: str
    answer: str
    blocks: tuple[BlockChoice, ...] = ()

    @property
    def fault(self) -> str | None:
        """What is missing, to follow its number: "claim 2 has no question of its own"."""
        if not self.question.strip():
            return "has no question of its own"
        if not self.answer.strip():
            return "has no answer"
        if not any(block.spans for block in self.blocks):
            return "has no evidence: choose a sentence, or another passage and words of it"
        return None


def _needed(text: str, what: str) -> str:
    if not text.strip():
        raise DisputeRefused(f"{what} is needed.", code="reason_missing")
    return text.strip()


@transaction.atomic
def post_message(*, project: Project, triple_id: int, author: User, text: str, at: datetime) -> DisputeMessage:
    """Author and flagger write to each other while a triple is disputed; each message notifies the other."""
    triple, participation = locked_with_participation(project, triple_id, author)
    DisputeRefused.raise_for(rules.message_refusal(triple, participation), code="not_yours_to_write")
    message = DisputeMessage.objects.create(
        triple=triple, round=triple.round, author=author, text=_needed(text, "A text"), posted_at=at
    )
    notices.message_posted(message)
    return message


@transaction.atomic
def withdraw_flag(*, project: Project, triple_id: int, reviewer: User, policy: Category, at: datetime) -> Triple:
    """The flagger withdraws the flag because a policy settles it; the triple is accepted."""
    triple, participation = locked_with_participation(project, triple_id, reviewer)
    DisputeRefused.raise_for(rules.withdraw_flag_refusal(triple, participation), code="not_withdrawable")
    discard_open_revision(triple)
    changes = resolve(triple, ResolutionKind.POLICY, at=at, decided_by=reviewer, category=policy.value)
    move(triple, Step.WITHDRAW_FLAG, actor=reviewer, at=at, **changes)
    mark_if_changed(triple, at)
    sentence = f"{reviewer} withdrew the flag on {triple.label}. It is accepted."
    notices.settled(triple, sentence, by=reviewer, at=at)
    return triple


@transaction.atomic
def split_triple(*, project: Project, triple_id: int, author: User, claims: list[Claim], at: datetime) -> list[Triple]:
    """Make one draft for each atomic claim, each with its own block and evidence. Returns the drafts."""
    triple, participation = locked_with_participation(project, triple_id, author)
    DisputeRefused.raise_for(rules.split_refusal(triple, participation), code="not_splittable")
    if not FEWEST_CHILDREN <= len(claims) <= MOST_CHILDREN:
        raise DisputeRefused(
            f"A split makes {FEWEST_CHILDREN} to {MOST_CHILDREN} claims, not {len(claims)}.", code="claims"
        )
    for number, claim in enumerate(claims, start=1):
        if claim.fault:
            raise DisputeRefused(f"Claim {number} {claim.fault}.", code="claims")
    discard_open_revision(triple)
    wording = copy_wording(triple, triple.revision)
    children = [
        start_draft(
            project=project,
            author=author,
            snapshot=triple.snapshot,
            wording=wording._replace(question=claim.question, answer=claim.answer, blocks=claim.blocks),
            parent=triple,
            at=at,
        )
        for claim in claims
    ]
    labels = ", ".join(child.label for child in children)
    resolve(triple, ResolutionKind.SPLIT, at=at, decided_by=author, reason=f"Split into {labels}.")
    move(triple, Step.SPLIT, actor=author, at=at, reason=f"Split into {labels}.")
    sentence = f"{author} split {triple.label} into {len(children)} claims, each a Q&A of its own."
    notices.settled(triple, sentence, by=author, at=at)
    return children


@transaction.atomic
def drop_triple(*, project: Project, triple_id: int, author: User, reason: str, at: datetime) -> Triple:
    """An author drops a disputed triple. The reason is stored, and both reviewers are notified."""
    triple, participation = locked_with_participation(project, triple_id, author)
    DisputeRefused.raise_for(rules.drop_refusal(triple, participation), code="not_droppable")
    reason = _needed(reason, "A reason")
    discard_open_revision(triple)
    resolve(triple, ResolutionKind.DROPPED, at=at, decided_by=author, reason=reason)
    move(triple, Step.DROP, actor=author, at=at, reason=reason)
    notices.settled(triple, f"{author} dropped {triple.label}. The reason is on its page.", by=author, at=at)
    return triple


@transaction.atomic
def adjudicate(
    *, project: Project, triple_id: int, lead: User, decision: Decision, reason: str, at: datetime
) -> Triple:
    """A lead without a part in it decides: accepted as it is, reviewed again, or dropped. The reason is stored."""
    triple, participation = locked_with_participation(project, triple_id, lead)
    DisputeRefused.raise_for(rules.adjudicate_refusal(triple, participation), code="not_adjudicable")
    reason = _needed(reason, "A reason")
    discard_open_revision(triple)
    kind = ResolutionKind.DROPPED if decision is Decision.DROP else ResolutionKind.ADJUDICATED
    changes = resolve(triple, kind, at=at, decided_by=lead, reason=reason)
    decided = triple.round
    if decision is Decision.ACCEPT:
        move(triple, Step.ADJUDICATE_ACCEPT, actor=lead, at=at, reason=reason, **changes)
        mark_if_changed(triple, at)
    elif decision is Decision.DROP:
        move(triple, Step.ADJUDICATE_DROP, actor=lead, at=at, reason=reason)
    else:
        next_revision = add_revision(triple, triple.author, triple.snapshot, at)
        start_round(triple, next_revision, Step.ADJUDICATE_RETURN, actor=lead, at=at, reason=reason, afresh=True)
    notices.adjudicated(triple, by=lead, round_number=decided, at=at)
    return triple
