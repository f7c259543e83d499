"""Seats of a round: leased to people by pair or by query, given back, returned to the queue."""

import json
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.db import transaction
from django.db.backends.utils import CursorWrapper
from django.db.models import QuerySet

from apps.accounts.models import User
from apps.audit.actions import record
from apps.common.database.statements import prepared_cursor, rows_of, run, time_value
from apps.common.errors import Refusal
from apps.judging import rules
from apps.judging.actions.rounds import NotAnnotator, lock_place, locked_place
from apps.judging.core.plan import PRIME, own_order
from apps.judging.enums import SeatState
from apps.judging.models import Round, RoundAnnotator, Seat
from apps.judging.selectors.leases import JUDGED, in_order, leases_of
from apps.judging.selectors.plans import pilot_queries, remit_in_sql
from apps.judging.selectors.reading import with_texts

MOST_SEATS = 20
RENEWED_AFTER = timedelta(minutes=1)
"""A lease is renewed when it is this old, not at each request."""


class SeatsRefused(Refusal):
    """No pair can be assigned to this person now."""


# Statements that SQLite and PostgreSQL share. PostgreSQL plans each once, and its statistics lag behind a round that
# fills: nothing was this person's when the server last counted, so that it would read all of a round at once where one
# look for each row is right. What is written as a subquery with a value, and not as EXISTS or a join, stays one look.

RETIRED_AT = "(SELECT q.retired_at FROM queries_query q WHERE q.id = {0}.query_id)"
IS_LIVE = f"{RETIRED_AT} IS NULL"

# One row: the place, its round, and what is there to be done before and after pairs are leased.
CONTEXT = f"""
SELECT p.id, p.cursor, p."only", r.state,
       (SELECT count(*) FROM judging_seat s
         WHERE s.round_id = p.round_id AND s.annotator_id = p.annotator_id AND s.state = 'leased'
           AND {IS_LIVE.format("s")}),
       EXISTS (SELECT 1 FROM judging_seat s
         WHERE s.round_id = p.round_id AND s.annotator_id = p.annotator_id AND s.state = 'leased'
           AND s.lease_expires_at < %(renewed)s),
       EXISTS (SELECT 1 FROM judging_seat s
         WHERE s.round_id = p.round_id AND s.annotator_id = p.annotator_id AND s.state = 'leased'
           AND {RETIRED_AT.format("s")} IS NOT NULL),
       EXISTS (SELECT 1 FROM judging_seat s
         WHERE s.round_id = p.round_id AND s.state = 'leased' AND s.lease_expires_at < %(now)s
           AND s.annotator_id <> p.annotator_id),
       EXISTS (SELECT 1 FROM judging_seat s
         WHERE s.round_id = p.round_id AND s.reserved_for_id = p.annotator_id AND s.state = 'open'),
       EXISTS (SELECT 1 FROM judging_seat s
         WHERE s.round_id = p.round_id AND s.reserved_for_id = p.annotator_id AND s.state = 'open'
           AND s.due_after <= {JUDGED}),
       EXISTS (SELECT 1 FROM judging_pilotdecision d WHERE d.round_id = p.round_id)
  FROM judging_roundannotator p JOIN judging_round r ON r.id = p.round_id
 WHERE p.round_id = %(round)s AND p.annotator_id = %(person)s
"""

RENEW = """
UPDATE judging_seat SET lease_expires_at = %(expires)s
 WHERE round_id = %(round)s AND annotator_id = %(person)s AND state = 'leased' AND lease_expires_at < %(renewed)s
"""
# Locked rows are skipped, never waited for: a row that turns out to be leased stays locked to the end of the
# transaction, and two people waiting for each other's would be a deadlock.
RETURN_LAPSED = """
WITH lapsed AS MATERIALIZED (
  SELECT s.id FROM judging_seat s
   WHERE s.round_id = %(round)s AND s.state = 'leased' AND s.lease_expires_at < %(now)s
     AND s.annotator_id <> %(person)s [FOR UPDATE OF s SKIP LOCKED])
UPDATE judging_seat SET state = 'open', annotator_id = NULL, lease_expires_at = NULL
 WHERE id IN (SELECT id FROM lapsed)
"""
RETURN_RETIRED = f"""
UPDATE judging_seat SET state = 'open', annotator_id = NULL, lease_expires_at = NULL
 WHERE round_id = %(round)s AND annotator_id = %(person)s AND state = 'leased'
   AND {RETIRED_AT.format("judging_seat")} IS NOT NULL
"""
LEASE = """
WITH chosen AS MATERIALIZED ({} LIMIT %(n)s [FOR UPDATE OF s SKIP LOCKED])
UPDATE judging_seat SET state = 'leased', annotator_id = %(person)s, lease_expires_at = %(expires)s
 WHERE id IN (SELECT id FROM chosen) RETURNING query_id
"""
RESERVED = f"""
SELECT s.id FROM judging_seat s
 WHERE s.round_id = %(round)s AND s.reserved_for_id = %(person)s AND s.state = 'open' AND {IS_LIVE.format("s")}"""

# A pair on which this person has no seat in the same pass, reserved for nobody; of their share, or of anybody's.
IS_FREE = """{0}.round_id = %(round)s AND {0}.state = 'open' AND {0}.reserved_for_id IS NULL
     AND (SELECT count(*) FROM judging_seat m
           WHERE m.round_id = {0}.round_id AND m.annotator_id = %(person)s AND m.entry_id = {0}.entry_id
             AND m.pass_number = {0}.pass_number) = 0"""
IS_OWN = " AND {0}.meant_for_id = %(person)s"
# Of a pair that is in nobody's share, or in another's, the seat with the lowest number.
IS_LOWEST = """
     AND (SELECT count(*) FROM judging_seat l
           WHERE l.round_id = s.round_id AND l.entry_id = s.entry_id AND l.pass_number = s.pass_number
             AND l.state = 'open' AND l.number < s.number) = 0"""
# The same as `OwnOrder.rank`.
LINE = "((s.entry_id %% %(prime)s) * %(factor)s + %(shift)s) %% %(prime)s"
OF_QUERY = "SELECT s.id FROM judging_seat s WHERE s.query_id = {query} AND {free}"
IN_OWN_ORDER = f" ORDER BY ({LINE}) * ({LINE}) %% %(prime)s, s.entry_id"
# The first query with such a pair from the cursor on, going round once.
QUERY = """
(SELECT w.query_id FROM retrieval_poolquery w
  WHERE w.pool_id = %(pool)s AND w.query_id {way} %(cursor)s AND {live}
    AND (SELECT count(*) FROM (
          SELECT 1 FROM judging_seat f WHERE f.query_id = w.query_id AND {free} LIMIT 1) found) = 1
  ORDER BY w.query_id LIMIT 1)"""
HOLDS_OWN = """
SELECT EXISTS (SELECT 1 FROM judging_seat s
  WHERE s.round_id = %(round)s AND s.annotator_id = %(person)s AND s.state = 'leased'
    AND (s.meant_for_id = %(person)s OR s.reserved_for_id = %(person)s))
"""
MOVE = "UPDATE judging_roundannotator SET cursor = %(cursor)s WHERE id = %(place)s"


class PlaceContext(NamedTuple):
    """One row of CONTEXT."""

    place_id: int
    cursor: int
    only: str | None
    state: str
    leased: int
    has_old: bool
    has_retired: bool
    others_lapsed: bool
    has_reserved: bool
    has_due: bool
    is_decided: bool


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
    facts = _facts(round_, annotator, at) | {"n": min(n, MOST_SEATS)}
    while True:
        reached, met_others = _lease_step(round_, facts)
        if not met_others:
            return reached


def _facts(round_: Round, annotator: User, at: datetime) -> dict[str, Any]:
    expires, order = at + timedelta(minutes=round_.lease_minutes), own_order(round_.seed, annotator.pk)
    return {
        "round": round_.pk, "pool": round_.pool_id, "person": annotator.pk, "prime": PRIME, "factor": order.factor,
        "shift": order.shift, "now": time_value(at), "expires": time_value(expires),
        "renewed": time_value(expires - RENEWED_AFTER),
    }  # fmt: skip


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


def leased_to(place: RoundAnnotator) -> QuerySet[Seat]:
    """The seats that this person has leased and not graded."""
    return Seat.objects.filter(round=place.round_id, annotator=place.annotator_id, state=SeatState.LEASED)


def locked_context(cursor: CursorWrapper, facts: Mapping[str, Any]) -> PlaceContext:
    """Lock a person's place, and read what is there then. Raises NotAnnotator, SeatsRefused."""
    lock_place(cursor, facts)
    rows = rows_of(cursor, CONTEXT, facts)
    if not rows:
        raise NotAnnotator()
    context = PlaceContext(*rows[0])
    SeatsRefused.raise_for(rules.grading_refusal(context.state), code="round_not_open")
    return context


@transaction.atomic
def _lease_step(round_: Round, facts: Mapping[str, Any]) -> tuple[int, bool]:
    """Fill up with what is due, then query by query; True when others had locked the free seats of the last query."""
    with prepared_cursor() as cursor:
        context = locked_context(cursor, facts)
        if context.others_lapsed:
            run(cursor, RETURN_LAPSED, facts)
        if context.has_retired:
            run(cursor, RETURN_RETIRED, facts)
        if context.has_old:
            run(cursor, RENEW, facts)
        lease = _Lease(cursor, facts, context, Bounds.of(round_, context.only, is_decided=context.is_decided))
        if lease.room > 0 and context.has_due:
            lease.reserved(is_due=True)
        if lease.room > 0:
            lease.by_query(own=True)
        if lease.room > 0 and context.has_reserved and not lease.met_others and not lease.bounds.is_pilot:
            lease.reserved(is_due=False)
        if lease.room > 0 and not lease.met_others and not rows_of(cursor, HOLDS_OWN, facts)[0][0]:
            lease.by_query(own=False)
        if lease.reached != context.cursor:
            run(cursor, MOVE, {"cursor": lease.reached, "place": context.place_id})
    return lease.reached, lease.met_others


class Bounds(NamedTuple):
    """What a person may judge now, in SQL on rows with a `query_id`: the pilot while it is not decided, their remit."""

    pilot: str
    remit: str
    values: dict[str, str]

    @classmethod
    def of(cls, round_: Round, only: str | None, *, is_decided: bool) -> "Bounds":
        queries = [] if is_decided else pilot_queries(round_)
        pilot = f"{{0}}.query_id IN ({', '.join(str(int(query)) for query in queries)})" if queries else "TRUE"
        remit = json.loads(only) if only else None
        if not remit:
            return cls(pilot, "TRUE", {})
        words, values = remit_in_sql(remit)
        return cls(pilot, f"(SELECT count(*) FROM queries_query q WHERE q.id = {{0}}.query_id AND {words}) = 1", values)

    @property
    def is_pilot(self) -> bool:
        return self.pilot != "TRUE"

    def on(self, alias: str) -> str:
        return f"{self.pilot} AND {self.remit}".format(alias)


class _Lease:
    """What one step leases: `room` for more, `reached` as the last query, and whether it met locks of others there."""

    def __init__(self, cursor: CursorWrapper, facts: Mapping[str, Any], context: PlaceContext, bounds: Bounds) -> None:
        self.cursor, self.bounds = cursor, bounds
        self.facts = {**facts, **bounds.values}
        self.room, self.reached, self.met_others = facts["n"] - context.leased, context.cursor, False

    def reserved(self, *, is_due: bool) -> None:
        """What is reserved for this person, the oldest first: what is due, or all of it."""
        due = f" AND s.due_after <= {JUDGED}" if is_due else ""
        self.take(f"{RESERVED} AND {self.bounds.pilot.format('s')}{due} ORDER BY s.id")

    def by_query(self, *, own: bool) -> None:
        """Query by query from the one reached on: free pairs of this person's share, or of anybody's.

        It ends at a query whose free seats others have locked and does not retry, since two such people would each keep
        locked what the other needs.
        """
        free = IS_FREE + (IS_OWN if own else "")
        to_come = QUERY.format(
            way="{way}", live=f"{IS_LIVE.format('w')} AND {self.bounds.on('w')}", free=free.format("f")
        )
        following = f"coalesce({to_come.format(way='>=')}, {to_come.format(way='<')})"
        while self.room > 0:
            queries = self.take(_of_query(following, own=own))
            if queries:
                self.reached = queries[0]
                continue
            ((waits_at,),) = rows_of(self.cursor, f"SELECT {following}", self.facts | {"cursor": self.reached})
            if waits_at is not None:
                self.reached, self.met_others = waits_at, True
            return

    def take(self, chosen: str) -> list[int]:
        """Lease what is chosen, as far as there is room; return the query of each."""
        facts = self.facts | {"cursor": self.reached, "n": self.room}
        queries = [query for (query,) in rows_of(self.cursor, LEASE.format(chosen), facts)]
        self.room -= len(queries)
        return queries


def _of_query(query: str, *, own: bool) -> str:
    """In this person's order, the free seats of a query: of each pair their own, or the one with the lowest number."""
    whose = IS_OWN if own else IS_LOWEST
    return OF_QUERY.format(query=query, free=(IS_FREE + whose).format("s")) + IN_OWN_ORDER


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


OF_THIS_QUERY = f"""
SELECT (SELECT count(*) FROM judging_seat s
         WHERE s.round_id = %(round)s AND s.annotator_id = %(person)s AND s.state = 'leased'
           AND s.query_id = %(query)s),
       EXISTS (SELECT 1 FROM judging_seat s
         WHERE s.round_id = %(round)s AND s.state = 'open'
           AND (s.meant_for_id = %(person)s OR s.reserved_for_id = %(person)s))
       OR ({HOLDS_OWN})
"""


@transaction.atomic
def _complete(round_: Round, annotator: User, query_id: int, at: datetime) -> None:
    """Lease the other pairs of a query: of this person's share, while any of it is left to them."""
    facts = _facts(round_, annotator, at) | {"query": query_id}
    with prepared_cursor() as cursor:
        context = locked_context(cursor, facts)
        bounds = Bounds.of(round_, context.only, is_decided=context.is_decided)
        ((leased, own),) = rows_of(cursor, OF_THIS_QUERY, facts)
        chosen = _of_query(f"%(query)s AND {bounds.on('s')} AND {IS_LIVE.format('s')}", own=bool(own))
        if leased < MOST_OF_QUERY:
            rows_of(cursor, LEASE.format(chosen), facts | bounds.values | {"n": MOST_OF_QUERY - leased})
