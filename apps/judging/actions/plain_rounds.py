"""The two steps of a plain round in as few statements as they need: leasing pairs, and giving a first grade.

A round is plain when its plan asks for nothing after a grade and reserves nothing (`Plan.is_plain`). Almost every grade
is given in such a round, for a pair that its person has leased and never graded. Both steps do exactly what the full
ones do then (a property test compares every row), ask the same rules, and take their locks in the same order. They end
without effect wherever anything is not plain, and the full step goes on from there.
"""

from datetime import datetime, timedelta
from functools import cache
from typing import Any

from django.db import IntegrityError, connection, transaction

from apps.accounts.enums import Role
from apps.common.database.durability import RELAX, atomic_without_sync
from apps.common.database.statements import prepared_cursor
from apps.judging import rules
from apps.judging.core.answer import Answer, milliseconds
from apps.judging.core.seeded_order import PRIME, own_order
from apps.judging.models import Round

RENEWED_AFTER = timedelta(minutes=1)
"""A lease is renewed when it is this old, not at each request."""

# A statement of its own, for one that waited for a lock sees the other rows as they were before.
LOCK = "SELECT {first} FROM judging_roundannotator WHERE round_id = %(round)s AND annotator_id = %(person)s FOR UPDATE"

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
  FROM judging_roundannotator p JOIN judging_round r ON r.id = p.round_id
 WHERE p.round_id = %(round)s AND p.annotator_id = %(person)s
"""

RENEW = """
UPDATE judging_seat SET lease_expires_at = %(expires)s
 WHERE round_id = %(round)s AND annotator_id = %(person)s AND state = 'leased' AND lease_expires_at < %(renewed)s
"""

# The free pairs of the first query from the cursor on that has one for this person, in their own order; most often it
# is the query they are at. A pair is leased through its open seat with the lowest number, never twice to one person.
# PostgreSQL's statistics lag behind a round that fills: nothing was theirs when it last counted, so reading all of it
# would cost nothing. OFFSET 0 has it look up one pair at a time instead, and "coalesce" read the seats of the query.
LEASE = """
WITH reached AS (
  SELECT coalesce(
    (SELECT f.query_id FROM judging_seat f
      WHERE f.query_id = %(cursor)s AND {is_free} LIMIT 1),
    (SELECT f.query_id FROM judging_seat f
      WHERE f.query_id > %(cursor)s AND {is_free} ORDER BY f.query_id LIMIT 1)) AS query_id)
UPDATE judging_seat SET state = 'leased', annotator_id = %(person)s, lease_expires_at = %(expires)s
 WHERE id {among}(
       SELECT s.id FROM judging_seat s
        WHERE s.query_id = (SELECT query_id FROM reached)
          AND s.round_id = %(round)s AND s.state = 'open' AND s.reserved_for_id IS NULL
          AND (s.entry_id, s.pass_number) NOT IN (
              SELECT m.entry_id, m.pass_number FROM judging_seat m
               WHERE m.query_id = (SELECT query_id FROM reached)
                 AND m.round_id = %(round)s AND coalesce(m.annotator_id, 0) = %(person)s)
          AND (s.number = 1 OR NOT EXISTS (
              SELECT 1 FROM judging_seat l
               WHERE l.round_id = s.round_id AND l.entry_id = s.entry_id AND l.number < s.number
                 AND l.pass_number = s.pass_number AND l.state = 'open'))
        ORDER BY (((s.entry_id %% {prime}) * %(factor)s + %(shift)s) %% {prime})
               * (((s.entry_id %% {prime}) * %(factor)s + %(shift)s) %% {prime}) %% {prime}, s.entry_id
        LIMIT %(n)s {skip_locked})
RETURNING query_id
"""

IS_FREE = """f.round_id = %(round)s AND f.state = 'open' AND f.reserved_for_id IS NULL
      AND NOT EXISTS (
          SELECT 1 FROM judging_seat m
           WHERE m.round_id = f.round_id AND m.annotator_id = %(person)s AND m.entry_id = f.entry_id
             AND m.pass_number = f.pass_number {offset})"""

MOVE = "UPDATE judging_roundannotator SET cursor = %s WHERE id = %s"


# Written such that it is found by its key, and not among what its person has leased, which PostgreSQL believes to be
# nothing and which has a dead row for each grade.
FILL = """
UPDATE judging_seat SET state = 'done', lease_expires_at = NULL
 WHERE id = %(seat)s AND round_id = %(round)s AND coalesce(annotator_id, 0) = %(person)s
   AND (state = 'leased') IS TRUE AND pass_number = 1
   AND EXISTS (SELECT 1 FROM judging_round r WHERE r.id = %(round)s AND r.state = 'open')
   AND EXISTS (SELECT 1 FROM judging_roundannotator p WHERE p.round_id = %(round)s AND p.annotator_id = %(person)s)
   AND EXISTS (SELECT 1 FROM accounts_membership m
                WHERE m.project_id = %(project)s AND m.user_id = %(person)s AND m.role = %(role)s
                  AND m.ended_at IS NULL {lock_role})
RETURNING entry_id
"""

GIVE = """
INSERT INTO judging_judgement (round_id, seat_id, entry_id, annotator_id, pass_number, grade, cant_judge, note, spans,
                               guideline_id, active_ms, away_ms, idempotency_key, supersedes_id, given_at)
VALUES (%(round)s, %(seat)s, %(entry)s, %(person)s, 1, %(grade)s, %(cant_judge)s, %(note)s, '[]',
        %(guideline)s, %(active_ms)s, %(away_ms)s, %(key)s, NULL, %(at)s)
ON CONFLICT DO NOTHING RETURNING id
"""


@atomic_without_sync()
def lease_plainly(*, round_: Round, annotator_id: int, n: int, at: datetime) -> int | None:
    """Lease pairs to a person, query by query, until they have `n`; return the query they have reached.

    None where the full step has to go on: fewer pairs than wanted were free, somebody's lease has lapsed, the person
    has a remit or reserved pairs, or they are no annotator of this round. What was leased by then stays leased.

    The commit does not wait for the disk: who loses a lease in a power cut is given the pair again, or another one.
    """
    expires = at + timedelta(minutes=round_.lease_minutes)
    order = own_order(round_.seed, annotator_id)
    facts = {
        "round": round_.pk, "person": annotator_id, "factor": order.factor, "shift": order.shift,
        "now": _time(at), "expires": _time(expires), "renewed": _time(expires - RENEWED_AFTER),
    }  # fmt: skip
    with prepared_cursor() as cursor:
        _lock_place(cursor, facts, first=RELAX)
        cursor.execute(PLACE, facts)
        place = cursor.fetchone()
        if place is None or place[4]:
            return None
        place_id, began, leased, is_old, _ = place
        if is_old:
            cursor.execute(RENEW, facts)
        reached, leased = _lease_from(cursor, facts, began, leased, n)
        if reached != began:
            cursor.execute(MOVE, [reached, place_id])
    return reached if leased >= n else None


def _lease_from(cursor: Any, facts: dict[str, Any], reached: int, leased: int, n: int) -> tuple[int, int]:
    """Until `n` are leased, or none is left from `reached` on; return the last query, and how many are leased."""
    while leased < n:
        cursor.execute(_sql(LEASE), {**facts, "cursor": reached, "n": n - leased})
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
        return _fill_and_give(facts)
    except IntegrityError:  # the guard of SQLite against replaced rows speaks before ON CONFLICT
        return None


@transaction.atomic
def _fill_and_give(facts: dict[str, Any]) -> int | None:
    with prepared_cursor() as cursor:
        _lock_place(cursor, facts)
        cursor.execute(_sql(FILL), facts)
        filled = cursor.fetchone()
        if filled is None:
            return None
        cursor.execute(GIVE, {**facts, "entry": filled[0]})
        given = cursor.fetchone()
    if given is None:
        transaction.set_rollback(True)
        return None
    return int(given[0])


def _lock_place(cursor: Any, facts: dict[str, Any], first: str = "1") -> None:
    """As `locked_place` does. SQLite has one writer at a time."""
    if connection.vendor == "postgresql":
        cursor.execute(LOCK.format(first=first), facts)


@cache
def _sql(statement: str) -> str:
    """The statement for this database; SQLite has no row locks."""
    has_locks = connection.vendor == "postgresql"
    return statement.format(
        prime=PRIME,
        among="= ANY (ARRAY" if has_locks else "IN ",
        lock_role="FOR NO KEY UPDATE" if has_locks else "",
        is_free=IS_FREE.format(offset="OFFSET 0" if has_locks else ""),
        skip_locked="FOR UPDATE OF s SKIP LOCKED)" if has_locks else "",
    )


def _time(at: datetime) -> Any:
    return connection.ops.adapt_datetimefield_value(at)
