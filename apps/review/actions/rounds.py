"""Shared by all actions of a review: the lock, opening a round and its seats, and recording its end."""

from datetime import datetime

from apps.accounts.models import Project, User
from apps.accounts.rules import locked_roles
from apps.common.errors import Refusal
from apps.review import rules
from apps.review.actions import notices
from apps.review.enums import ResolutionKind
from apps.review.models import Resolution, ReviewSeat
from apps.review.selectors.participation import Participation, participation_of
from apps.review.selectors.seats import NUMBERS, able_for, is_pulled, lease_from, returning_reviewers, reviewers_for
from apps.triples.enums import Step
from apps.triples.models import Revision, Triple
from apps.triples.selectors.triples import locked_triple, revoked_refusal
from apps.triples.workflow import move


def open_seat(revision: Revision, number: int, reviewer: User, at: datetime) -> ReviewSeat:
    """Give the free place `number` to the reviewer; the lease runs from `at`."""
    return ReviewSeat.objects.create(
        revision=revision,
        number=number,
        reviewer=reviewer,
        opened_at=at,
        lease_expires_at=lease_from(revision.triple.project, at),
    )


def open_seats(revision: Revision, reviewers: list[User], at: datetime) -> list[ReviewSeat]:
    """Give the places to the reviewers in their order; with fewer than two, a place stays free."""
    return [open_seat(revision, number, reviewer, at) for number, reviewer in zip(NUMBERS, reviewers, strict=False)]


def release(seat: ReviewSeat, at: datetime) -> None:
    """Release the seat. It stays as a row, and its place is free."""
    seat.released_at = at
    seat.save(update_fields=["released_at"])


class SubmitRefused(Refusal):
    """The revision cannot go to review."""


def locked_with_participation(project: Project, triple_id: int, person: User) -> tuple[Triple, Participation]:
    """The locked row, and the person's participation, read after the lock."""
    triple = locked_triple(project, triple_id)
    return triple, participation_of(triple, person, locked_roles(person, project))


def start_round(
    triple: Triple, revision: Revision, step: Step, *, actor: User, at: datetime, reason: str = "", afresh: bool = False
) -> Triple:
    """Fix the revision, open its seats and make `step`, which leads to review. The triple is locked.

    `afresh`: people who have not reviewed it come first, because the others know the wording. Where seats are pulled,
    only reviewers of the round before get theirs; the others are taken from the queue.
    """
    SubmitRefused.raise_for(revoked_refusal(triple, at=at), code="permission_revoked")
    is_by_load = not is_pulled(triple.project)
    able = reviewers_for(triple, afresh=afresh) if is_by_load else able_for(triple)
    SubmitRefused.raise_for(rules.reviewers_refusal(len(able)), code="too_few_reviewers")
    if is_by_load:
        reviewers = able
    else:
        reviewers = [] if afresh else returning_reviewers(triple)
    revision.round, revision.submitted_at = triple.round + 1, at
    revision.save(update_fields=["round", "submitted_at", "warnings"])
    for seat in open_seats(revision, reviewers, at):
        notices.seat_opened(seat, by=actor, at=at)
    return move(
        triple,
        step,
        actor=actor,
        at=at,
        reason=reason,
        round=revision.round,
        current=revision,
        snapshot=revision.snapshot,
    )


def resolve(
    triple: Triple,
    kind: ResolutionKind,
    *,
    at: datetime,
    decided_by: User | None = None,
    category: str = "",
    reason: str = "",
) -> dict:
    """Record what ended the round; returns the fields to set on an accepted triple."""
    Resolution.objects.create(
        triple=triple,
        revision=triple.revision,
        round=triple.round,
        kind=kind,
        category=category,
        decided_by=decided_by,
        reason=reason,
        resolved_at=at,
    )
    word = f"{kind.value}:{category}" if category else kind.value
    return {"resolution": word, "resolved_at": at}
