"""Seats of reviewers: opened for a round, given back."""

from datetime import datetime

from apps.accounts.models import User
from apps.review.models import ReviewSeat
from apps.review.selectors.seats import NUMBERS, lease_from
from apps.triples.models import Revision


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
