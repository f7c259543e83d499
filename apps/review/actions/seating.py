"""Seats of a round: pulling one, giving it back, and giving an unanswered one to somebody else."""

from collections import Counter
from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Q

from apps.accounts.models import Project, User
from apps.audit.actions import record
from apps.common.errors import Refusal
from apps.queries.actions.sources import Resting
from apps.queries.models import Source
from apps.review import rules
from apps.review.actions import notices
from apps.review.actions.rounds import locked_with_participation, open_seat, release
from apps.review.models import ReviewSeat
from apps.review.selectors.queues import offers_to, review_queue
from apps.review.selectors.seats import (
    able_in,
    free_number,
    is_pulled,
    lapsed,
    lease_from,
    live_seats,
    places_to_give,
    stuck_holders,
    successor_for,
    unanswered_of,
)
from apps.triples.enums import RetireReason, State
from apps.triples.models import Triple
from apps.triples.selectors.triples import authors_of, locked_triple

CANDIDATES = 10
TRIES = 3
NO_LONGER = "Its reviewer can no longer answer."
UNDONE = "Assigning it in bulk was undone."


class SeatRefused(Refusal):
    """The seat cannot be pulled, given back or given away."""


# Pulling -----------------------------------------------------------------------------------------------------------


def pull_seat(*, project: Project, reviewer: User, at: datetime, again: bool = True) -> ReviewSeat | None:
    """The next seat of this reviewer: their oldest unanswered one, else one in the oldest round they may take.

    Where seats are given by load, only the first. `again`: rounds that they gave back are offered last, else not at
    all. None when there is no seat. Each round is tried in a transaction of its own, so that nobody waits for the
    others.
    """
    own = review_queue(reviewer, project).first()
    if own is not None:
        return _renewed(own, at)
    if not is_pulled(project):
        return None
    for _ in range(TRIES):
        offered = offers_to(reviewer, project, at, again=again, limit=CANDIDATES)
        for triple_id in offered:
            seat = _take(project, triple_id, reviewer, at)
            if seat is not None:
                return seat
        if not offered:
            break
    return None


@transaction.atomic
def _renewed(own: ReviewSeat, at: datetime) -> ReviewSeat:
    """A lapsed lease is renewed when its reviewer returns before anybody else takes the seat."""
    if own.lease_expires_at is not None and own.lease_expires_at <= at:
        project = own.revision.triple.project
        ReviewSeat.objects.filter(lapsed(at), pk=own.pk).update(lease_expires_at=lease_from(project, at))
    return own


@transaction.atomic
def _take(project: Project, triple_id: int, reviewer: User, at: datetime) -> ReviewSeat | None:
    """A seat in this round, unless somebody was faster. The seat they already have, when another tab was faster."""
    triple, participation = locked_with_participation(project, triple_id, reviewer)
    if own := review_queue(reviewer, project).first():
        return own
    if rules.take_refusal(triple, participation):
        return None
    for seat in live_seats(triple.revision).filter(lapsed(at)).select_related("reviewer", "revision__triple__project"):
        release(seat, at)
        notices.seat_reassigned(seat, by=reviewer, at=at)
    number = free_number(triple.revision)
    return None if number is None else open_seat(triple.revision, number, reviewer, at)


@transaction.atomic
def give_back_seat(*, project: Project, triple_id: int, reviewer: User, at: datetime) -> ReviewSeat:
    """Return a pulled seat to the queue."""
    triple, participation = locked_with_participation(project, triple_id, reviewer)
    SeatRefused.raise_for(rules.give_back_refusal(triple, participation, is_pulled(project)), code="not_given_back")
    assert participation.seat is not None  # checked by the rule above
    release(participation.seat, at)
    notices.seat_reassigned(participation.seat, by=reviewer, at=at)
    return participation.seat


# Re-seating --------------------------------------------------------------------------------------------------------


@transaction.atomic
def reseat(
    *,
    project: Project,
    triple_id: int,
    reviewer: User | None,
    successor: User | None = None,
    lead: User,
    reason: str,
    at: datetime,
) -> ReviewSeat:
    """Give the unanswered seat of `reviewer` (None: the free place) to `successor` (None: by load).

    The old seat is released and a new one opened. An answered seat stays with its reviewer.
    """
    triple = _locked_for_reseating(project, triple_id, lead)
    seat = None if reviewer is None else _seat_of(triple, reviewer)
    return _give_away(triple, seat, successor, actor=lead, reason=_needed(reason), at=at)


def _locked_for_reseating(project: Project, triple_id: int, lead: User) -> Triple:
    triple, participation = locked_with_participation(project, triple_id, lead)
    SeatRefused.raise_for(rules.reseat_refusal(triple, participation), code="not_reseatable")
    return triple


def _needed(reason: str) -> str:
    if not reason.strip():
        raise SeatRefused("A reason is needed for the audit.", code="reason_missing")
    return reason.strip()


def _seat_of(triple: Triple, reviewer: User) -> ReviewSeat:
    seat = live_seats(triple.revision).filter(reviewer=reviewer).first()
    if seat is None:
        raise SeatRefused(f"{reviewer} does not review in this round.", code="no_seat")
    return seat


def _give_away(
    triple: Triple,
    seat: ReviewSeat | None,
    successor: User | None,
    *,
    actor: User | None,
    reason: str,
    at: datetime,
    among: Collection[int] | None = None,
    replaced: Sequence[int] = (),
) -> ReviewSeat:
    """The triple is locked. `seat` None: fill the free place. Nobody of `replaced`, who lose theirs too, gets it."""
    number = free_number(triple.revision) if seat is None else seat.number
    if number is None:
        raise SeatRefused("Both reviewers are already assigned.", code="no_free_seat")
    if seat is not None:
        _refuse_answered(seat)
    before = [*replaced] if seat is None else [*replaced, seat.reviewer_id]
    heir = _heir(triple, successor, before, among)
    if seat is not None:
        release(seat, at)
    opened = open_seat(triple.revision, number, heir, at)
    _record_reseat(triple, number, seat.reviewer if seat else None, heir, actor, reason, at)
    if seat is not None:
        notices.seat_reassigned(seat, by=actor, at=at)
    notices.seat_opened(opened, by=actor, at=at)
    return opened


def _refuse_answered(seat: ReviewSeat) -> None:
    if seat.answered_at is not None:
        raise SeatRefused(f"{seat.reviewer} has already answered and cannot be replaced.", code="answered")


def _record_reseat(
    triple: Triple, number: int, old: User | None, new: User | None, actor: User | None, reason: str, at: datetime
) -> None:
    record(
        project=triple.project,
        actor=actor,
        action="triple.reseat",
        obj=triple,
        before={"seat": number, "reviewer": str(old) if old else None},
        after={"seat": number, "reviewer": str(new) if new else None, "reason": reason},
        at=at,
    )


def _heir(triple: Triple, successor: User | None, before: list[int], among: Collection[int] | None) -> User:
    if successor is None:
        successor = successor_for(triple, before, among)
        if successor is None:
            raise SeatRefused(rules.nobody_else(is_chosen=among is not None), code="nobody")
        return successor
    if successor.pk in before:
        raise SeatRefused(f"{successor} is already this reviewer.", code="not_a_successor")
    if successor.pk in authors_of(triple):
        raise SeatRefused(f"{successor} wrote it. Authors cannot review their own Q&As.", code="not_a_successor")
    if not able_in(triple.project).filter(pk=successor.pk).exists():
        raise SeatRefused(f"{successor} is not a reviewer in this project.", code="not_a_successor")
    if live_seats(triple.revision).filter(reviewer=successor).exists():
        raise SeatRefused(f"{successor} is already the other reviewer.", code="not_a_successor")
    return successor


@transaction.atomic
def assign_reviewers(
    *,
    project: Project,
    triple_id: int,
    replace: int | str,
    among: Collection[int] | None = None,
    lead: User,
    reason: str,
    at: datetime,
) -> list[tuple[ReviewSeat, int | None]]:
    """Give the places that `places_to_give` means by `replace` to people of `among`, or to whoever has the least.

    All of them or none. Returns each new seat with the key of whose it was, None for a free place.
    """
    triple = _locked_for_reseating(project, triple_id, lead)
    live = list(live_seats(triple.revision).select_related("reviewer", "revision__triple__project"))
    able = set(able_in(project).order_by().values_list("pk", flat=True))
    given = places_to_give(live, replace, among, able=able, is_pulled=is_pulled(triple.project))
    SeatRefused.raise_for(rules.places_refusal(given, replace), code="nothing_to_give")
    how: dict[str, Any] = {"actor": lead, "reason": _needed(reason), "at": at, "among": among}
    how["replaced"] = [seat.reviewer_id for seat in given.seats]
    return [
        (_give_away(triple, seat, None, **how), None if seat is None else seat.reviewer_id)
        for seat in (*given.seats, *(None for _ in given.free))
    ]


@transaction.atomic
def take_back_assignment(
    *, project: Project, triple_id: int, seats: Sequence[tuple[int, int | None]], lead: User, at: datetime
) -> None:
    """Give seats back to whose they were before, by key, or to nobody. Refused once one of them was answered."""
    triple = _locked_for_reseating(project, triple_id, lead)
    live = {
        seat.pk: seat for seat in live_seats(triple.revision).select_related("reviewer", "revision__triple__project")
    }
    for key, former in seats:
        seat = live.get(key)
        if seat is None:
            raise SeatRefused("The review was assigned to somebody else since.", code="moved_on")
        if former is None:
            _refuse_answered(seat)
            release(seat, at)
            _record_reseat(triple, seat.number, seat.reviewer, None, lead, UNDONE, at)
            notices.seat_reassigned(seat, by=lead, at=at)
        else:
            _give_away(triple, seat, User.objects.get(pk=former), actor=lead, reason=UNDONE, at=at)


def _unanswerable(triple: Triple) -> list[ReviewSeat]:
    seats = live_seats(triple.revision).filter(answered_at=None, reviewer__in=stuck_holders(triple.project).order_by())
    return list(seats.select_related("reviewer", "revision__triple__project"))


@transaction.atomic
def free_abandoned_seats(*, project: Project, triple_id: int, at: datetime) -> list[ReviewSeat]:
    """Seats that nobody can answer go to somebody who can, without a lead: into the queue, or to the next by load.

    Returns the seats that were opened. A round without a possible reviewer does not change and is retried later.
    """
    triple = locked_triple(project, triple_id)
    if triple.state != State.IN_REVIEW:
        return []
    if is_pulled(project):
        for seat in _unanswerable(triple):
            release(seat, at)
            notices.seat_reassigned(seat, by=None, at=at)
        return []
    abandoned = [*_unanswerable(triple), *live_seats(triple.revision).filter(lapsed(at)).select_related("reviewer")]
    opened: list[ReviewSeat] = []
    for seat in {seat.pk: seat for seat in abandoned}.values():
        if successor_for(triple, [seat.reviewer_id]) is None:
            return opened
        opened.append(_give_away(triple, seat, None, actor=None, reason=NO_LONGER, at=at))
    while free_number(triple.revision) is not None and successor_for(triple, []) is not None:
        opened.append(_give_away(triple, None, None, actor=None, reason="Nobody was assigned.", at=at))
    return opened


@transaction.atomic
def give_up_seats(*, user: User, actor: User | None, at: datetime) -> None:
    """Somebody leaves: their unanswered seats go into the queue, or to the next reviewer by load.

    Where nobody else can review, the seat stays free and is given to the next reviewer who comes.
    """
    asked = (
        unanswered_of(user).order_by("revision__triple").values_list("revision__triple", "revision__triple__project")
    )
    for triple_id, project_id in asked:
        triple = locked_triple(Project.objects.get(pk=project_id), triple_id)
        for seat in live_seats(triple.revision).filter(reviewer=user, answered_at=None).select_related("reviewer"):
            if is_pulled(triple.project) or successor_for(triple, [user.pk]) is None:
                release(seat, at)
                notices.seat_reassigned(seat, by=actor, at=at)
            else:
                _give_away(triple, seat, None, actor=actor, reason=NO_LONGER, at=at)


class ReviewsOnPermissions:
    """Rounds of triples that were retired because the permission of their source was revoked: nobody answers any more.

    Acts after the triples, which tell how many there are.
    """

    def preview(self, source: Source) -> list[Resting]:
        return []

    def act(self, source: Source, *, actor: User, at: datetime) -> list[Resting]:
        rests = Q(source=source) | Q(query__source=source)
        retired = Triple.objects.filter(rests, retire_reason=RetireReason.PERMISSION_REVOKED, changed_at=at)
        open_seats = ReviewSeat.objects.filter(revision__triple__in=retired, released_at=None, closed_at=None)
        unanswered = open_seats.filter(answered_at=None)
        involved = Counter(retired.order_by().values_list("author", flat=True))
        involved.update(unanswered.order_by().values_list("reviewer", flat=True))
        notices.revoked(source, involved, by=actor, at=at)
        unanswered.update(released_at=at)
        open_seats.update(closed_at=at)
        return []
