from datetime import datetime, timedelta
from typing import Any

from django.db import connection, transaction
from django.db.models import BooleanField, Exists, ExpressionWrapper, F, Func, OuterRef, Q, QuerySet, Subquery
from django.db.models import PositiveBigIntegerField as Whole

from apps.accounts.models import User
from apps.common.errors import Refusal
from apps.judging import rules
from apps.judging.actions.locks import locked_place
from apps.judging.core.seeded_order import PRIME, OwnOrder, own_order
from apps.judging.enums import SeatState
from apps.judging.models import Round, RoundAnnotator, Seat
from apps.judging.selectors.plans import query_in_remit
from apps.judging.selectors.round_plan import gate
from apps.queries.models import Query
from apps.retrieval.models import PoolQuery

MOST_SEATS = 20


class SeatsRefused(Refusal):
    """Nobody can be given pairs to grade now."""


def claim_seats(*, round_: Round, annotator: User, n: int, at: datetime) -> list[Seat]:
    """Lease seats to a person until they hold `n`, and return all they hold in the order to grade them.

    A person goes through the queries one after another, from their own starting point, and sees the pairs of a
    query in their own order. What is reserved for them, a pair that comes back or a check, is given once it is due,
    and before that only when nothing else is left. Leases that have lapsed go back first; what the person holds
    already is kept and extended. An empty list: nothing is left for this person now.

    Each step is a transaction that locks the person's row and leases the seats of a query in one statement: two tabs
    never get two seats of one pair, and two people never get one seat. A query's seats are read through an index, so
    the time does not depend on the pool. Where others are taking what this person was about to take, the next step
    sees what they left.
    """
    return_lapsed(round_, annotator, at=at)
    wanted = min(n, MOST_SEATS)
    while True:
        seats, met_others = _claim_step(round_, annotator, wanted, at)
        if not met_others:
            return seats


@transaction.atomic
def release_seats(*, round_: Round, annotator: User) -> int:
    """Give back the pairs a person holds and has not graded; return how many there were."""
    place = locked_place(round_.pk, annotator)
    return held_by(place).update(state=SeatState.OPEN, annotator=None, lease_expires_at=None)


@transaction.atomic
def return_lapsed(round_: Round, annotator: User, *, at: datetime) -> None:
    """Open the seats that others let lapse; rows that somebody is working on right now are passed over."""
    lapsed = Seat.objects.filter(round=round_, state=SeatState.LEASED, lease_expires_at__lt=at)
    rows = lapsed.exclude(annotator=annotator).select_for_update(skip_locked=True)
    if ids := list(rows.values_list("pk", flat=True)):
        lapsed.filter(pk__in=ids).update(state=SeatState.OPEN, annotator=None, lease_expires_at=None)


def in_order(seats: list[Seat], place: RoundAnnotator) -> list[Seat]:
    """Sort seats the way this person meets them: queries as the cursor met them, pairs in their own order within.

    What is reserved for them comes first when it is due, and last when it is not, the oldest first.
    """
    own = own_order(place.round.seed, place.annotator_id)
    reserved = [seat for seat in seats if seat.reserved_for_id]
    judged = _judged(place) if reserved else 0
    due = sorted((seat for seat in reserved if (seat.due_after or 0) <= judged), key=lambda seat: seat.pk)
    early = sorted((seat for seat in reserved if (seat.due_after or 0) > judged), key=lambda seat: seat.pk)
    others = [seat for seat in seats if not seat.reserved_for_id]
    others.sort(key=lambda seat: (seat.query_id <= place.cursor, seat.query_id, own.rank(seat.entry_id), seat.entry_id))
    return [*due, *others, *early]


@transaction.atomic
def _claim_step(round_: Round, annotator: User, wanted: int, at: datetime) -> tuple[list[Seat], bool]:
    """Fill up with what is due and from one query after another; True when others had their hands on the last one."""
    place = locked_place(round_.pk, annotator)
    if reason := rules.grading_refusal(place.round):
        raise SeatsRefused(reason, code="round_not_open")
    expires = at + timedelta(minutes=place.round.lease_minutes)
    held = held_by(place).update(lease_expires_at=expires)
    queries = gate(place.round)
    room = wanted - held
    met_others = False
    if room > 0:
        room -= _lease_reserved(place, queries, room, expires, is_due=True)
    if room > 0:
        taken, met_others = _lease_from_queries(place, queries, room, expires)
        room -= taken
    if room > 0 and not met_others and queries is None:
        _lease_reserved(place, queries, room, expires, is_due=False)
    return in_order(list(held_by(place)), place), met_others


def _lease_from_queries(
    place: RoundAnnotator, queries: list[int] | None, n: int, expires: datetime
) -> tuple[int, bool]:
    """Lease up to `n` seats, query by query from the cursor on, and leave the cursor where they came from.

    Returns how many they were, and whether it ended at a query whose free seats others had locked. The step ends
    there rather than looks again, for two who meet would each hold on to what the other looks for.
    """
    taken, met_others = 0, False
    while taken < n and not met_others and (query_id := _next_query(place, queries)) is not None:
        leased = _lease(place, query_id, n - taken, expires)
        taken += leased
        met_others = not leased
        place.cursor = query_id
    if taken or met_others:
        place.save(update_fields=["cursor"])
    return taken, met_others


def held_by(place: RoundAnnotator) -> QuerySet[Seat]:
    """The seats this person holds and has not graded."""
    return Seat.objects.filter(round=place.round, annotator=place.annotator_id, state=SeatState.LEASED)


def lease_of_query(place: RoundAnnotator, query_id: int, n: int, expires: datetime) -> list[Seat]:
    """Take up to `n` pairs of a query, first in this person's order; none where they may not judge it now.

    Fewer when somebody was quicker.
    """
    if not may_be_given(place, query_id):
        return []
    before = set(held_by(place).values_list("pk", flat=True))
    _lease(place, query_id, n, expires)
    return [seat for seat in held_by(place) if seat.pk not in before]


def may_be_given(place: RoundAnnotator, query_id: int) -> bool:
    """Tell whether pairs of this query are for this person now: in their remit, and not behind a pilot's gate."""
    queries = gate(place.round)
    if queries is not None and query_id not in queries:
        return False
    return not place.only or Query.objects.filter(query_in_remit(place.only, ""), pk=query_id).exists()


def _judged(place: RoundAnnotator) -> int:
    return Seat.objects.filter(round=place.round, annotator=place.annotator_id, state=SeatState.DONE).count()


def _free_for(place: RoundAnnotator) -> QuerySet[Seat]:
    """Open seats of pairs on which this person has no seat in the same pass, reserved for nobody."""
    mine = Seat.objects.filter(
        round=OuterRef("round"),
        entry=OuterRef("entry"),
        pass_number=OuterRef("pass_number"),
        annotator=place.annotator_id,
    )
    return Seat.objects.filter(~Exists(mine), round=place.round, state=SeatState.OPEN, reserved_for=None)


def _next_query(place: RoundAnnotator, queries: list[int] | None) -> int | None:
    """Find the first query from the cursor on, going round once, with a pair for this person.

    Who may judge only some queries goes through the queries, for most seats on the way would not be theirs.
    """
    free: QuerySet[Seat] | QuerySet[PoolQuery] = _free_for(place).order_by("query_id")
    if place.only:
        here = _free_for(place).filter(query=OuterRef("query"))
        within = PoolQuery.objects.filter(query_in_remit(place.only), pool=place.round.pool_id)
        free = within.filter(Exists(here)).order_by("query_id")
    if queries is not None:
        free = free.filter(query__in=queries)
    rows = free.values_list("query_id", flat=True)
    return rows.filter(query_id__gte=place.cursor).first() or rows.filter(query_id__lt=place.cursor).first()


def _lease(place: RoundAnnotator, query_id: int, n: int, expires: datetime) -> int:
    """Lease the free seats of up to `n` pairs of a query, and of each pair the one with the lowest number."""
    lower = Seat.objects.filter(
        round=OuterRef("round"),
        entry=OuterRef("entry"),
        pass_number=OuterRef("pass_number"),
        state=SeatState.OPEN,
        number__lt=OuterRef("number"),
    )
    own = own_order(place.round.seed, place.annotator_id)
    free = _free_for(place).filter(~Exists(lower), query=query_id).order_by(_rank(own), "entry_id")
    return _take(place, free, n, expires)


def _lease_reserved(
    place: RoundAnnotator, queries: list[int] | None, n: int, expires: datetime, *, is_due: bool
) -> int:
    """Lease what is reserved for this person, the oldest first: what is due, or all of it."""
    waiting = Seat.objects.filter(round=place.round, reserved_for=place.annotator_id, state=SeatState.OPEN)
    if queries is not None:
        waiting = waiting.filter(query__in=queries)
    if not waiting.exists():
        return 0
    if is_due:
        waiting = waiting.filter(due_after__lte=_judged(place))
    return _take(place, waiting.order_by("pk"), n, expires)


def _take(place: RoundAnnotator, seats: QuerySet[Seat], n: int, expires: datetime) -> int:
    """Lease the first `n` of these seats to a person, in one statement; return how many there were.

    Seats that others have locked are passed over, never waited for: a row that turns out to be taken stays locked
    to the end of the transaction, and two people waiting for each other's would be a deadlock. The chosen seats are
    an array on PostgreSQL, for a subquery with a limit may run more than once inside a join.
    """
    chosen = seats.select_for_update(of=("self",), skip_locked=True).values("pk")[:n]
    leased = {"state": SeatState.LEASED, "annotator": place.annotator_id, "lease_expires_at": expires}
    return Seat.objects.filter(_is_one_of(chosen)).update(**leased)


def _is_one_of(chosen: QuerySet[Seat, Any]) -> Q | Func:
    if connection.vendor != "postgresql":
        return Q(pk__in=chosen)
    among: Any = {"template": "%(expressions)s)", "arg_joiner": " = ANY("}
    array = Subquery(chosen, template="ARRAY(%(subquery)s)")  # Django's own brings PostgreSQL's driver to SQLite
    return Func(F("pk"), array, output_field=BooleanField(), **among)


def _rank(own: OwnOrder) -> ExpressionWrapper:
    """The same as `OwnOrder.rank`, for the database."""
    line = (F("entry_id") % PRIME * own.factor + own.shift) % PRIME
    return ExpressionWrapper(line * line % PRIME, output_field=Whole())
