"""Seats of a round: leased to people by pair or by query, given back, returned to the queue."""

from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.db import connection, transaction
from django.db.models import BooleanField, Exists, ExpressionWrapper, F, Func, OuterRef, Q, QuerySet, Subquery, Value
from django.db.models import PositiveBigIntegerField as Whole
from django.db.models.functions import Coalesce

from apps.accounts.models import User
from apps.audit.actions import record
from apps.common.database.bulk import ExistsForEach, update_returning
from apps.common.database.questions import CountOf, Expressions, Question
from apps.common.errors import Refusal
from apps.judging import rules
from apps.judging.actions.locks import locked_place, locked_place_with
from apps.judging.actions.plain_rounds import RENEWED_AFTER, lease_plainly
from apps.judging.core.seeded_order import PRIME, OwnOrder, own_order, place_in_order
from apps.judging.enums import SeatState
from apps.judging.models import NOT_RETIRED, PilotDecision, Round, RoundAnnotator, Seat
from apps.judging.selectors.plans import pilot_queries, plan_of, query_in_remit, undecided_pilot_queries
from apps.judging.selectors.reading import with_texts
from apps.queries.models import Query
from apps.retrieval.models import PoolQuery

MOST_SEATS = 20


class SeatsRefused(Refusal):
    """No pair can be assigned to this person now."""


def claim_seats(*, round_: Round, annotator: User, n: int, at: datetime) -> list[Seat]:
    """Lease seats to a person until they have `n`, and return all of them with their texts, in the order to grade them.

    As `lease_seats`. An empty list: nothing is left for this person now.
    """
    reached = lease_seats(round_=round_, annotator=annotator, n=n, at=at)
    return in_order(list(with_texts(leases_of(round_, annotator))), round_, annotator.pk, reached)


def lease_seats(*, round_: Round, annotator: User, n: int, at: datetime) -> int:
    """Lease seats to a person until they have `n`, at most 20; return the query they have reached.

    A person goes through the queries one after another, from their own starting point, and sees the pairs of a query in
    their own order. What is reserved for them (a repeated pair or a check) is assigned once it is due, and before that
    only when nothing else of their share is left. Pairs of others' shares follow once nothing is left or leased of
    theirs. Lapsed leases of others are returned to the queue first; leases that the person has
    are extended once they are a minute old. Pairs of a retired query are given to nobody, and leases of them return.

    Each step is a transaction that locks the person's row and leases the seats of a query in one statement: two tabs
    never get two seats of one pair, and two people never get one seat. A query's seats are read through an index, so
    the time does not depend on the pool. Where others are leasing the same seats at that time, the next step sees what
    is left.
    """
    wanted = min(n, MOST_SEATS)
    if plan_of(round_).is_plain:
        reached = lease_plainly(round_=round_, annotator_id=annotator.pk, n=wanted, at=at)
        if reached is not None:
            return reached
    while True:
        place, met_others = _lease_step(round_, annotator, wanted, at)
        if not met_others:
            return place.cursor


@transaction.atomic
def release_seats(*, round_: Round, annotator: User) -> int:
    """Return the leased, ungraded pairs of a person to the queue; return how many there were."""
    place = locked_place(round_.pk, annotator)
    return leased_to(place).update(state=SeatState.OPEN, annotator=None, lease_expires_at=None)


@transaction.atomic
def return_seats_of(*, round_: Round, holder: User, actor: User | None, at: datetime) -> int:
    """Return to the queue the leased, ungraded pairs of somebody who is away or has left; return how many.

    A grade they still send for one of them is stored as long as the pair has an empty seat.
    """
    place = locked_place(round_.pk, holder)
    n = leased_to(place).update(state=SeatState.OPEN, annotator=None, lease_expires_at=None)
    if n:
        after = {"round": round_.pk, "seats": n}
        record(project=round_.project, actor=actor, action="seats.returned", obj=holder, after=after, at=at)
    return n


@transaction.atomic
def return_all_seats_of(*, user: User, actor: User | None, at: datetime) -> None:
    """Return what somebody who leaves has leased, in every round, to its queue."""
    leased = Seat.objects.filter(annotator=user, state=SeatState.LEASED).order_by()
    for round_ in Round.objects.filter(pk__in=leased.values("round").distinct()).order_by("pk"):
        return_seats_of(round_=round_, holder=user, actor=actor, at=at)


def leases_of(round_: Round, annotator: User) -> QuerySet[Seat]:
    """The seats that this person has leased and not graded."""
    return Seat.objects.filter(round=round_, annotator=annotator, state=SeatState.LEASED)


def in_order(seats: list[Seat], round_: Round, annotator_id: int, reached: int) -> list[Seat]:
    """Sort seats in this person's order: queries as they were reached, pairs in their own order within.

    Reserved seats come first when they are due, last when they are not, the oldest first.
    """
    own = own_order(round_.seed, annotator_id)
    reserved = [seat for seat in seats if seat.reserved_for_id]
    judged = _judged(round_, annotator_id).count() if reserved else 0
    due = sorted((seat for seat in reserved if (seat.due_after or 0) <= judged), key=lambda seat: seat.pk)
    early = sorted((seat for seat in reserved if (seat.due_after or 0) > judged), key=lambda seat: seat.pk)
    others = [seat for seat in seats if not seat.reserved_for_id]
    others.sort(key=lambda seat: place_in_order(seat.query_id, seat.entry_id, reached, own))
    return [*due, *others, *early]


@transaction.atomic
def _lease_step(round_: Round, annotator: User, wanted: int, at: datetime) -> tuple[RoundAnnotator, bool]:
    """Fill up with what is due, then query by query; True when others had locked the free seats of the last query."""
    place, standing = locked_place_with(round_.pk, annotator, _standing(round_, annotator, at))
    if reason := rules.grading_refusal(place.round):
        raise SeatsRefused(reason, code="round_not_open")
    if standing.others_lapsed:
        _return_lapsed(place, at)
    if standing.has_retired:
        retired = leased_to(place).exclude(NOT_RETIRED)
        retired.update(state=SeatState.OPEN, annotator=None, lease_expires_at=None)
    expires = at + timedelta(minutes=place.round.lease_minutes)
    if standing.first_end is not None and standing.first_end < expires - RENEWED_AFTER:
        leased_to(place).filter(lease_expires_at__lt=expires - RENEWED_AFTER).update(lease_expires_at=expires)
    room = wanted - standing.leased
    queries = None if standing.is_decided else pilot_queries(place.round) or None
    met_others = False
    if room > 0 and standing.has_reserved:
        room -= _lease_reserved(place, queries, room, expires, is_due=True)
    if room > 0:
        added, met_others = _lease_from_queries(place, queries, room, expires, own=True)
        room -= added
    if room > 0 and standing.has_reserved and not met_others and queries is None:
        room -= _lease_reserved(place, queries, room, expires, is_due=False)
    if room > 0 and not met_others and not leased_to(place).filter(_of_share(place)).exists():
        _, met_others = _lease_from_queries(place, queries, room, expires, own=False)
    return place, met_others


def _of_share(place: RoundAnnotator) -> Q:
    """The seats that are this person's own: in their share, or reserved for them."""
    return Q(meant_for=place.annotator_id) | Q(reserved_for=place.annotator_id)


class _Standing(NamedTuple):
    """What a step decides on: how many pairs its person has leased, when the first lease ends, and what else is there.

    `has_reserved` is for open pairs that are reserved for them, `has_retired` for leases of theirs whose query is
    retired and that `leased` does not count, `others_lapsed` for lapsed leases of others, `is_decided` for the pilot.
    """

    leased: int
    first_end: datetime | None
    has_reserved: bool
    has_retired: bool
    others_lapsed: bool
    is_decided: bool


def _standing(round_: Round, annotator: User, at: datetime) -> Question[_Standing]:
    leased = leases_of(round_, annotator)
    seats = Seat.objects.filter(round=round_)
    asks: Expressions = {
        "leased": CountOf(leased.filter(NOT_RETIRED).values("pk")),
        "first_end": Subquery(leased.order_by("lease_expires_at").values("lease_expires_at")[:1]),
        "has_reserved": Exists(seats.filter(NOT_RETIRED, reserved_for=annotator, state=SeatState.OPEN)),
        "has_retired": Exists(leased.exclude(NOT_RETIRED)),
        "others_lapsed": Exists(_lapsed(seats, at).exclude(annotator=annotator)),
        "is_decided": Exists(PilotDecision.objects.filter(round=round_)),
    }
    return Question(asks, lambda found: _Standing(**found))


def _lapsed(seats: QuerySet[Seat], at: datetime) -> QuerySet[Seat]:
    return seats.filter(state=SeatState.LEASED, lease_expires_at__lt=at)


def _return_lapsed(place: RoundAnnotator, at: datetime) -> None:
    """Open seats whose lease has lapsed, of other people; locked rows are skipped."""
    lapsed = _lapsed(Seat.objects.filter(round=place.round), at)
    rows = lapsed.exclude(annotator=place.annotator_id).select_for_update(skip_locked=True)
    if ids := list(rows.values_list("pk", flat=True)):
        lapsed.filter(pk__in=ids).update(state=SeatState.OPEN, annotator=None, lease_expires_at=None)


def _lease_from_queries(
    place: RoundAnnotator, queries: list[int] | None, n: int, expires: datetime, *, own: bool
) -> tuple[int, bool]:
    """Lease up to `n` seats, query by query from the cursor on, and set the cursor to the last of these queries.

    `own`: those of this person's share only.

    Returns how many they were, and whether it ended at a query whose free seats others had locked. The step ends there
    and does not retry, since two such people would each keep locked what the other needs.
    """
    count, began, waits_at = 0, place.cursor, None
    while count < n:
        following = _next_query(place, queries, own=own)
        reached = _lease(place, following, n - count, expires, own=own)
        if not reached:
            waits_at = RoundAnnotator.objects.filter(pk=place.pk).values_list(following, flat=True).get()
            break
        count += len(reached)
        place.cursor = reached[0]
    if waits_at is not None:
        place.cursor = waits_at
    if place.cursor != began:
        place.save(update_fields=["cursor"])
    return count, waits_at is not None


def leased_to(place: RoundAnnotator) -> QuerySet[Seat]:
    """The seats that this person has leased and not graded."""
    return Seat.objects.filter(round=place.round, annotator=place.annotator_id, state=SeatState.LEASED)


def lease_of_query(place: RoundAnnotator, query_id: int, n: int, expires: datetime) -> None:
    """Lease up to `n` pairs of a query, in this person's order; none where they may not judge it now.

    Of their share, while any of it is left to them. Fewer when others were faster.
    """
    if may_lease(place, query_id):
        mine = Seat.objects.filter(_of_share(place), round=place.round)
        leased = Q(state=SeatState.LEASED, annotator=place.annotator_id)
        own = mine.filter(leased | Q(state=SeatState.OPEN)).exists()
        _lease(place, Value(query_id), n, expires, own=own)


def may_lease(place: RoundAnnotator, query_id: int) -> bool:
    """Whether this person may judge pairs of this query now: in their remit, and not blocked by a pilot."""
    queries = undecided_pilot_queries(place.round)
    if queries is not None and query_id not in queries:
        return False
    return not place.only or Query.objects.filter(query_in_remit(place.only, ""), pk=query_id).exists()


def _judged(round_: Round, annotator_id: int) -> QuerySet[Seat]:
    return Seat.objects.filter(round=round_, annotator=annotator_id, state=SeatState.DONE)


def _free_for(place: RoundAnnotator, *, own: bool) -> QuerySet[Seat]:
    """Open seats of pairs on which this person has no seat in the same pass, reserved for nobody, of a live query.

    `own`: those of this person's share only.
    """
    mine = Seat.objects.filter(
        round=OuterRef("round"),
        entry=OuterRef("entry"),
        pass_number=OuterRef("pass_number"),
        annotator=place.annotator_id,
    )
    free = Seat.objects.filter(NOT_RETIRED, round=place.round, state=SeatState.OPEN, reserved_for=None)
    free = free.filter(~ExistsForEach(mine))
    return free.filter(meant_for=place.annotator_id) if own else free


def _next_query(place: RoundAnnotator, queries: list[int] | None, *, own: bool) -> Coalesce:
    """For the database: the first query from the cursor on, going round once, with a pair for this person.

    With a remit the queries are checked one by one, for most seats on the way would be outside it.
    """
    free: QuerySet[Seat] | QuerySet[PoolQuery] = _free_for(place, own=own).order_by("query_id")
    if place.only:
        free_here = _free_for(place, own=own).filter(query=OuterRef("query"))
        within = PoolQuery.objects.filter(query_in_remit(place.only), pool=place.round.pool_id)
        free = within.filter(Exists(free_here)).order_by("query_id")
    if queries is not None:
        free = free.filter(query__in=queries)
    rows = free.values("query_id")
    on, before = rows.filter(query_id__gte=place.cursor), rows.filter(query_id__lt=place.cursor)
    return Coalesce(Subquery(on[:1]), Subquery(before[:1]))


def _lease(place: RoundAnnotator, query: Value | Coalesce, n: int, expires: datetime, *, own: bool) -> list[int]:
    """Lease the free seats of up to `n` pairs of a query: of each pair their own, or the seat with the lowest number.

    Return the key of the query for each.
    """
    lower = Seat.objects.filter(
        round=OuterRef("round"),
        entry=OuterRef("entry"),
        pass_number=OuterRef("pass_number"),
        state=SeatState.OPEN,
        number__lt=OuterRef("number"),
    )
    order = own_order(place.round.seed, place.annotator_id)
    free = _free_for(place, own=own).filter(query=query).order_by(_rank(order), "entry_id")
    return _take(place, free if own else free.filter(~ExistsForEach(lower)), n, expires)


def _lease_reserved(
    place: RoundAnnotator, queries: list[int] | None, n: int, expires: datetime, *, is_due: bool
) -> int:
    """Lease what is reserved for this person, the oldest first: what is due, or all of it."""
    reserved = Seat.objects.filter(NOT_RETIRED, round=place.round, state=SeatState.OPEN)
    reserved = reserved.filter(reserved_for=place.annotator_id)
    if queries is not None:
        reserved = reserved.filter(query__in=queries)
    if is_due:
        reserved = reserved.filter(due_after__lte=CountOf(_judged(place.round, place.annotator_id).values("pk")))
    return len(_take(place, reserved.order_by("pk"), n, expires))


def _take(place: RoundAnnotator, seats: QuerySet[Seat], n: int, expires: datetime) -> list[int]:
    """Lease the first `n` of these seats to a person, in one statement; return the key of the query of each.

    Locked seats are skipped, never waited for: a row that turns out to be leased stays locked to the end of the
    transaction, and two people waiting for each other's would be a deadlock. The selected seats are an array on
    PostgreSQL, for a subquery with a limit may run more than once inside a join.
    """
    selected = seats.select_for_update(of=("self",), skip_locked=True).values("pk")[:n]
    leased = {"state": SeatState.LEASED, "annotator": place.annotator_id, "lease_expires_at": expires}
    return update_returning(Seat.objects.filter(_is_one_of(selected)), "query_id", **leased)


def _is_one_of(selected: QuerySet[Seat, Any]) -> Q | Func:
    if connection.vendor != "postgresql":
        return Q(pk__in=selected)
    among: Any = {"template": "%(expressions)s)", "arg_joiner": " = ANY("}
    array = Subquery(selected, template="ARRAY(%(subquery)s)")  # Django's own imports psycopg on SQLite too
    return Func(F("pk"), array, output_field=BooleanField(), **among)


def _rank(own: OwnOrder) -> ExpressionWrapper:
    """The same as `OwnOrder.rank`, for the database."""
    line = (F("entry_id") % PRIME * own.factor + own.shift) % PRIME
    return ExpressionWrapper(line * line % PRIME, output_field=Whole())


MOST_OF_QUERY = 50
FEW = 5


def claim_query_seats(*, round_: Round, annotator: User, at: datetime) -> list[Seat]:
    """Lease what `claim_seats` would lease next, and with it all other pairs of the same queries.

    For the view of all pairs of a query together: the person's graded pairs of these queries are included, in their
    place. Up to 50 pairs of a query; a person who still has more than a few pairs leased gets no further query. Same
    order, leases and limits as pair by pair. An empty list: nothing is left for this person.
    """
    reached = lease_seats(round_=round_, annotator=annotator, n=FEW, at=at)
    leases = leases_of(round_, annotator)
    queries = sorted(set(leases.values_list("query_id", flat=True)))
    for query_id in queries:
        _complete(round_, annotator, query_id, at)
    if not queries:
        return []
    every = [*with_texts(leases), *_graded_in(queries, round_, annotator)]
    return in_order(every, round_, annotator.pk, reached)


def _graded_in(queries: list[int], round_: Round, annotator: User) -> list[Seat]:
    """The person's graded pairs of the queries they have leased. `groups` separates a blind duplicate from its twin."""
    done = Seat.objects.filter(round=round_, annotator=annotator, state=SeatState.DONE, pass_number=1)
    return list(with_texts(done.filter(query__in=queries)).order_by("-pk")[:MOST_OF_QUERY])


@transaction.atomic
def _complete(round_: Round, annotator: User, query_id: int, at: datetime) -> None:
    leased = CountOf(leases_of(round_, annotator).filter(query=query_id).values("pk"))
    room = Question({"leased": leased}, lambda found: MOST_OF_QUERY - int(found["leased"]))
    place, n = locked_place_with(round_.pk, annotator, room)
    if reason := rules.grading_refusal(place.round):
        raise SeatsRefused(reason, code="round_not_open")
    if n > 0:
        lease_of_query(place, query_id, n, at + timedelta(minutes=place.round.lease_minutes))
