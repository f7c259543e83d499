from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet

from apps.accounts.models import User
from apps.common.errors import Forbidden, Refusal
from apps.judging import rules
from apps.judging.enums import SeatState
from apps.judging.models import Round, RoundAnnotator, Seat
from apps.judging.order import shuffled

MOST_SEATS = 20


class SeatsRefused(Refusal):
    """Nobody can be given pairs to grade now."""


class NotAsked(Forbidden):
    """Somebody who was not asked to grade in this round asks for its pairs."""


def claim_seats(*, round_: Round, annotator: User, n: int, at: datetime) -> list[Seat]:
    """Lease seats to a person until they hold `n`, and return all they hold in the order to grade them.

    A person goes through the queries one after another, from their own starting point, and sees the pairs of a
    query in their own order. Leases that have lapsed go back first; what the person holds already is kept and
    extended. An empty list: nothing is left for this person.

    Each step is a transaction of its own that locks the person's row, the seats they hold, and those it chose from
    one query: two tabs never get two seats of one pair, and two people never get one seat. It reads one query's
    seats through an index, so its time does not depend on the pool.
    """
    return_lapsed(round_, annotator, at=at)
    wanted = min(n, MOST_SEATS)
    while True:
        seats, is_more = _claim_step(round_, annotator, wanted, at)
        if len(seats) >= wanted or not is_more:
            return seats


@transaction.atomic
def release_seats(*, round_: Round, annotator: User) -> int:
    """Give back the pairs a person holds and has not graded; return how many there were."""
    place = _locked_place(round_, annotator)
    return _held(place).update(state=SeatState.OPEN, annotator=None, lease_expires_at=None)


@transaction.atomic
def return_lapsed(round_: Round, annotator: User, *, at: datetime) -> None:
    """Open the seats that others let lapse; rows that somebody is working on right now are passed over."""
    lapsed = Seat.objects.filter(round=round_, state=SeatState.LEASED, lease_expires_at__lt=at)
    rows = lapsed.exclude(annotator=annotator).select_for_update(skip_locked=True)
    if ids := list(rows.values_list("pk", flat=True)):
        lapsed.filter(pk__in=ids).update(state=SeatState.OPEN, annotator=None, lease_expires_at=None)


def in_order(seats: list[Seat], place: RoundAnnotator) -> list[Seat]:
    """Sort seats the way this person meets them: queries as the cursor met them, pairs shuffled within."""
    own = shuffled(seats, seed=place.round.seed, who=place.annotator_id, key=lambda seat: seat.entry_id)
    return sorted(own, key=lambda seat: (seat.query_id <= place.cursor, seat.query_id))


@transaction.atomic
def _claim_step(round_: Round, annotator: User, wanted: int, at: datetime) -> tuple[list[Seat], bool]:
    """Fill up from the next query that has a pair for this person; False when there was none."""
    place = _locked_place(round_, annotator)
    if reason := rules.grading_refusal(place.round):
        raise SeatsRefused(reason, code="round_not_open")
    expires = at + timedelta(minutes=place.round.lease_minutes)
    _held(place).update(lease_expires_at=expires)
    held = list(_held(place))
    query_id = _next_query(place) if len(held) < wanted else None
    if query_id is not None:
        held += _lease(place, query_id, wanted - len(held), expires)
        place.cursor = query_id
        place.save(update_fields=["cursor"])
    return in_order(held, place), query_id is not None


def _locked_place(round_: Round, annotator: User) -> RoundAnnotator:
    rows = RoundAnnotator.objects.select_for_update(of=("self",)).select_related("round")
    place = rows.filter(round=round_, annotator=annotator).first()
    if place is None:
        raise NotAsked("You were not asked to judge in this round.", code="not_in_round")
    return place


def _held(place: RoundAnnotator) -> QuerySet[Seat]:
    return Seat.objects.filter(round=place.round, annotator=place.annotator_id, state=SeatState.LEASED)


def _free_for(place: RoundAnnotator) -> QuerySet[Seat]:
    """Open seats of pairs on which this person has no seat in the same pass."""
    mine = Seat.objects.filter(
        round=OuterRef("round"),
        entry=OuterRef("entry"),
        pass_number=OuterRef("pass_number"),
        annotator=place.annotator_id,
    )
    return Seat.objects.filter(~Exists(mine), round=place.round, state=SeatState.OPEN)


def _next_query(place: RoundAnnotator) -> int | None:
    """Find the first query from the cursor on, going round once, with a pair for this person."""
    free = _free_for(place).order_by("query_id").values_list("query_id", flat=True)
    return free.filter(query_id__gte=place.cursor).first() or free.filter(query_id__lt=place.cursor).first()


def _lease(place: RoundAnnotator, query_id: int, n: int, expires: datetime) -> list[Seat]:
    """Take up to `n` pairs of a query, first in this person's order. Fewer when somebody was quicker.

    Seats that others have locked are passed over, never waited for: a row that turns out to be taken stays locked
    to the end of the transaction, and two people waiting for each other's would be a deadlock.
    """
    free = _free_for(place).filter(query_id=query_id).values_list("pk", "entry_id", "pass_number")
    by_pair = {(entry_id, number): (pk, entry_id) for pk, entry_id, number in free}
    own = shuffled(by_pair.values(), seed=place.round.seed, who=place.annotator_id, key=lambda row: row[1])
    chosen = Seat.objects.select_for_update(skip_locked=True).filter(pk__in=[pk for pk, _ in own[:n]])
    seats = list(chosen.filter(state=SeatState.OPEN))
    for seat in seats:
        seat.state, seat.annotator_id, seat.lease_expires_at = SeatState.LEASED, place.annotator_id, expires
    Seat.objects.filter(pk__in=[seat.pk for seat in seats]).update(
        state=SeatState.LEASED, annotator=place.annotator_id, lease_expires_at=expires
    )
    return seats
