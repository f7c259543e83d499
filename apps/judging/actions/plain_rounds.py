"""The two steps of a plain round in as few statements as they need: leasing pairs, and giving a first grade.

A round is plain when its plan asks for nothing after a grade and reserves nothing (`Plan.is_plain`). Almost every grade
is given in such a round, for a pair that its person has leased and never graded. Both steps do exactly what the full
ones do then (a property test compares every row), ask the same rules, and take their locks in the same order. They end
without effect wherever anything is not plain, and the full step goes on from there.

On PostgreSQL each step is a function of the database (in `apps/judging/migrations/`: `_plain_steps`, 0012, 0013): one
trip, and a transaction of its own. The statements here are those of SQLite, which has one writer at a time and no
locks.
"""

from contextlib import nullcontext
from datetime import datetime, timedelta
from typing import Any

from django.db import IntegrityError, connection, transaction

from apps.accounts.enums import Role
from apps.common.database.statements import prepared_cursor
from apps.judging import rules
from apps.judging.core.answer import Answer, milliseconds
from apps.judging.core.seeded_order import PRIME, own_order
from apps.judging.models import Round

RENEWED_AFTER = timedelta(minutes=1)
"""A lease is renewed when it is this old, not at each request."""

LEASE_ON_POSTGRESQL = """
SELECT judging_lease_plainly(%(round)s, %(person)s, %(n)s, %(now)s, %(expires)s, %(renewed)s,
                             %(factor)s, %(shift)s, %(prime)s)
"""
GIVE_ON_POSTGRESQL = """
SELECT judging_give_plainly(%(round)s, %(project)s, %(role)s, %(person)s, %(seat)s, %(grade)s,
                            %(cant_judge)s, %(note)s, %(guideline)s, %(active_ms)s, %(away_ms)s, %(key)s, %(at)s)
"""

# One row: the place, how many pairs are leased to its person, and whether something keeps the step from being plain.
PLACE = """
SELECT p.id, p.cursor,
       (SELECT count(*) FROM judging_seat s
         WHERE s.round_id = p.round_id AND s.annotator_id = p.annotator_id AND s.state = 'leased'),
       EXISTS (SELECT 1 FROM judging_seat s
         WHERE s.round_id = p.round_id AND s.annotator_id = p.annotator_id AND s.state = 'leased'
           AND s.lease_expires_at < %(renewed)s),
       r.state <> 'open' OR p."only" IS NOT NULL
       OR EXISTS (SELECT 1 FROM judging_seat s WHERE s.round_id = p.round_id AND s.reserved_for_id = p.annotator_id)
       OR EXISTS (SELECT 1 FROM judging_seat s
         WHERE s.round_id = p.round_id AND s.state = 'leased' AND s.lease_expires_at < %(now)s
           AND s.annotator_id <> p.annotator_id)
       OR EXISTS (SELECT 1 FROM judging_seat s JOIN queries_query q ON q.id = s.query_id
         WHERE s.round_id = p.round_id AND s.annotator_id = p.annotator_id AND s.state = 'leased'
           AND q.retired_at IS NOT NULL)
  FROM judging_roundannotator p JOIN judging_round r ON r.id = p.round_id
 WHERE p.round_id = %(round)s AND p.annotator_id = %(person)s
"""

RENEW = """
UPDATE judging_seat SET lease_expires_at = %(expires)s
 WHERE round_id = %(round)s AND annotator_id = %(person)s AND state = 'leased' AND lease_expires_at < %(renewed)s
"""

IS_FREE = """f.meant_for_id = %(person)s AND f.round_id = %(round)s AND f.state = 'open' AND f.reserved_for_id IS NULL
      AND NOT EXISTS (SELECT 1 FROM queries_query q WHERE q.id = f.query_id AND q.retired_at IS NOT NULL)
      AND NOT EXISTS (
          SELECT 1 FROM judging_seat m
           WHERE m.round_id = f.round_id AND m.annotator_id = %(person)s AND m.entry_id = f.entry_id
             AND m.pass_number = f.pass_number)"""

# The free pairs of the first query from the cursor on that has one of this person's share, in their own order; most
# often it is the query they are at. A pair is never leased twice to one person.
LEASE = f"""
WITH reached AS (
  SELECT coalesce(
    (SELECT f.query_id FROM judging_seat f
      WHERE f.query_id = %(cursor)s AND {IS_FREE} LIMIT 1),
    (SELECT f.query_id FROM judging_seat f
      WHERE f.query_id > %(cursor)s AND {IS_FREE} ORDER BY f.query_id LIMIT 1)) AS query_id)
UPDATE judging_seat SET state = 'leased', annotator_id = %(person)s, lease_expires_at = %(expires)s
 WHERE id IN (
       SELECT s.id FROM judging_seat s
        WHERE s.query_id = (SELECT query_id FROM reached)
          AND s.round_id = %(round)s AND s.state = 'open' AND s.reserved_for_id IS NULL
          AND (s.entry_id, s.pass_number) NOT IN (
              SELECT m.entry_id, m.pass_number FROM judging_seat m
               WHERE m.query_id = (SELECT query_id FROM reached)
                 AND m.round_id = %(round)s AND coalesce(m.annotator_id, 0) = %(person)s)
          AND s.meant_for_id = %(person)s
        ORDER BY (((s.entry_id %% %(prime)s) * %(factor)s + %(shift)s) %% %(prime)s)
               * (((s.entry_id %% %(prime)s) * %(factor)s + %(shift)s) %% %(prime)s) %% %(prime)s, s.entry_id
        LIMIT %(n)s)
RETURNING query_id
"""

MOVE = "UPDATE judging_roundannotator SET cursor = %s WHERE id = %s"

FILL = """
UPDATE judging_seat SET state = 'done', lease_expires_at = NULL
 WHERE id = %(seat)s AND round_id = %(round)s AND annotator_id = %(person)s AND state = 'leased' AND pass_number = 1
   AND EXISTS (SELECT 1 FROM judging_round r WHERE r.id = %(round)s AND r.state = 'open')
   AND EXISTS (SELECT 1 FROM judging_roundannotator p WHERE p.round_id = %(round)s AND p.annotator_id = %(person)s)
   AND EXISTS (SELECT 1 FROM accounts_membership m
                WHERE m.project_id = %(project)s AND m.user_id = %(person)s AND m.role = %(role)s
                  AND m.ended_at IS NULL)
RETURNING entry_id
"""

GIVE = """
INSERT INTO judging_judgement (round_id, seat_id, entry_id, annotator_id, pass_number, grade, cant_judge, note, spans,
                               guideline_id, active_ms, away_ms, idempotency_key, supersedes_id, given_at)
VALUES (%(round)s, %(seat)s, %(entry)s, %(person)s, 1, %(grade)s, %(cant_judge)s, %(note)s, '[]',
        %(guideline)s, %(active_ms)s, %(away_ms)s, %(key)s, NULL, %(at)s)
ON CONFLICT DO NOTHING RETURNING id
"""


def lease_plainly(*, round_: Round, annotator_id: int, n: int, at: datetime) -> int | None:
    """Lease pairs to a person, query by query, until they have `n`; return the query they have reached.

    None where the full step has to go on: fewer pairs of their share than wanted were free, somebody's lease has
    lapsed, the person holds pairs of a retired query, has a remit or reserved pairs, or is no annotator of this round.
    What was leased by then stays leased.
    """
    expires = at + timedelta(minutes=round_.lease_minutes)
    order = own_order(round_.seed, annotator_id)
    facts = {
        "round": round_.pk, "person": annotator_id, "factor": order.factor, "shift": order.shift, "prime": PRIME,
        "n": n, "now": _time(at), "expires": _time(expires), "renewed": _time(expires - RENEWED_AFTER),
    }  # fmt: skip
    return _called(LEASE_ON_POSTGRESQL, facts) if connection.vendor == "postgresql" else _lease(facts)


@transaction.atomic
def _lease(facts: dict[str, Any]) -> int | None:
    with prepared_cursor() as cursor:
        cursor.execute(PLACE, facts)
        place = cursor.fetchone()
        if place is None or place[4]:
            return None
        place_id, began, leased, is_old, _ = place
        if is_old:
            cursor.execute(RENEW, facts)
        reached, leased = _lease_from(cursor, facts, began, leased)
        if reached != began:
            cursor.execute(MOVE, [reached, place_id])
    return reached if leased >= facts["n"] else None


def _lease_from(cursor: Any, facts: dict[str, Any], reached: int, leased: int) -> tuple[int, int]:
    """Until enough are leased, or none is left from `reached` on; return the last query, and how many are leased."""
    while leased < facts["n"]:
        cursor.execute(LEASE, {**facts, "cursor": reached, "n": facts["n"] - leased})
        queries = cursor.fetchall()
        if not queries:
            break
        reached, leased = queries[0][0], leased + len(queries)
    return reached, leased


def give_plainly(
    *, round_: Round, seat_id: int, annotator_id: int, answer: Answer, idempotency_key: str, at: datetime
) -> int | None:
    """Store a person's first grade of a pair that they have leased; return the key of the judgement.

    `round_` is a plain one with its project. None, and nothing has changed, where the full step has to decide: an
    answer with marked evidence or not on the scale, a pair that is not leased to them, a key that was used, a round
    that is closed, a person who is no longer an annotator.
    """
    if answer.spans or rules.answer_refusal(round_.project, answer.grade, answer.cant_judge):
        return None
    facts = {
        "round": round_.pk, "person": annotator_id, "seat": seat_id, "project": round_.project_id,
        "role": Role.ANNOTATOR.value, "grade": answer.grade, "cant_judge": answer.cant_judge,
        "note": answer.note.strip(), "guideline": round_.guideline_id, "active_ms": milliseconds(answer.active_ms),
        "away_ms": milliseconds(answer.away_ms), "key": idempotency_key, "at": _time(at),
    }  # fmt: skip
    try:
        return _called(GIVE_ON_POSTGRESQL, facts) if connection.vendor == "postgresql" else _give(facts)
    except IntegrityError:  # on SQLite its guard against replaced rows speaks before ON CONFLICT
        return None


@transaction.atomic
def _give(facts: dict[str, Any]) -> int | None:
    with prepared_cursor() as cursor:
        cursor.execute(FILL, facts)
        filled = cursor.fetchone()
        if filled is None:
            return None
        cursor.execute(GIVE, {**facts, "entry": filled[0]})
        given = cursor.fetchone()
    if given is None:
        transaction.set_rollback(True)
        return None
    return int(given[0])


def _called(function: str, facts: dict[str, Any]) -> int | None:
    """What a function of PostgreSQL returns, which is a transaction of its own unless one is open."""
    is_within = connection.in_atomic_block
    with transaction.atomic() if is_within else nullcontext(), prepared_cursor() as cursor:
        cursor.execute(function, facts)
        (answer,) = cursor.fetchone()
    return answer


def _time(at: datetime) -> Any:
    return connection.ops.adapt_datetimefield_value(at)
