"""Leasing and grading in a plain round are one trip to PostgreSQL each."""

from apps.common.database.functions import Function

# What apps/judging/actions/plain_rounds.py does on SQLite, statement by statement and in the same order.

LOCK = """
PERFORM 1 FROM judging_roundannotator WHERE round_id = _round AND annotator_id = _person FOR UPDATE;
"""

# The commit of a lease does not wait for the disk.
#
# The statistics lag behind a round that fills: nothing was this person's when the server last counted, so it believes
# that reading all of it costs nothing. OFFSET 0 has it look up one pair at a time instead, and "coalesce" read the seats
# of one query.
LEASE = Function(
    "judging_lease_plainly",
    (
        "_round bigint", "_person bigint", "_n bigint", "_now timestamptz", "_expires timestamptz",
        "_renewed timestamptz", "_factor bigint", "_shift bigint", "_prime bigint",
    ),
    "bigint",
    "_place record; _leased bigint; _reached bigint; _found bigint; _query bigint;",
    f"""
PERFORM set_config('synchronous_commit', 'off', true);
{LOCK}
SELECT p.id, p.cursor,
       (SELECT count(*) FROM judging_seat s
         WHERE s.round_id = _round AND s.annotator_id = _person AND s.state = 'leased') AS leased,
       EXISTS (SELECT 1 FROM judging_seat s
         WHERE s.round_id = _round AND s.annotator_id = _person AND s.state = 'leased'
           AND s.lease_expires_at < _renewed) AS is_old,
       r.state <> 'open' OR p."only" IS NOT NULL
       OR EXISTS (SELECT 1 FROM judging_seat s WHERE s.round_id = _round AND s.reserved_for_id = _person)
       OR EXISTS (SELECT 1 FROM judging_seat s
         WHERE s.round_id = _round AND s.state = 'leased' AND s.lease_expires_at < _now
           AND s.annotator_id <> _person) AS is_other
  INTO _place
  FROM judging_roundannotator p JOIN judging_round r ON r.id = p.round_id
 WHERE p.round_id = _round AND p.annotator_id = _person;
IF NOT FOUND OR _place.is_other THEN RETURN NULL; END IF;
IF _place.is_old THEN
  UPDATE judging_seat SET lease_expires_at = _expires
   WHERE round_id = _round AND annotator_id = _person AND state = 'leased' AND lease_expires_at < _renewed;
END IF;
_leased := _place.leased; _reached := _place.cursor;
WHILE _leased < _n LOOP
WITH reached AS (
  SELECT coalesce(
    (SELECT f.query_id FROM judging_seat f
      WHERE f.query_id = _reached AND f.round_id = _round AND f.state = 'open' AND f.reserved_for_id IS NULL
        AND NOT EXISTS (
            SELECT 1 FROM judging_seat m
             WHERE m.round_id = f.round_id AND m.annotator_id = _person AND m.entry_id = f.entry_id
               AND m.pass_number = f.pass_number OFFSET 0) LIMIT 1),
    (SELECT f.query_id FROM judging_seat f
      WHERE f.query_id > _reached AND f.round_id = _round AND f.state = 'open' AND f.reserved_for_id IS NULL
        AND NOT EXISTS (
            SELECT 1 FROM judging_seat m
             WHERE m.round_id = f.round_id AND m.annotator_id = _person AND m.entry_id = f.entry_id
               AND m.pass_number = f.pass_number OFFSET 0) ORDER BY f.query_id LIMIT 1)) AS query_id),
leased AS (
  UPDATE judging_seat SET state = 'leased', annotator_id = _person, lease_expires_at = _expires
   WHERE id = ANY (ARRAY(
         SELECT s.id FROM judging_seat s
          WHERE s.query_id = (SELECT query_id FROM reached)
            AND s.round_id = _round AND s.state = 'open' AND s.reserved_for_id IS NULL
            AND (s.entry_id, s.pass_number) NOT IN (
                SELECT m.entry_id, m.pass_number FROM judging_seat m
                 WHERE m.query_id = (SELECT query_id FROM reached)
                   AND m.round_id = _round AND coalesce(m.annotator_id, 0) = _person)
            AND (s.number = 1 OR NOT EXISTS (
                SELECT 1 FROM judging_seat l
                 WHERE l.round_id = s.round_id AND l.entry_id = s.entry_id AND l.number < s.number
                   AND l.pass_number = s.pass_number AND l.state = 'open'))
          ORDER BY (((s.entry_id % _prime) * _factor + _shift) % _prime)
                 * (((s.entry_id % _prime) * _factor + _shift) % _prime) % _prime, s.entry_id
          LIMIT _n - _leased FOR UPDATE OF s SKIP LOCKED))
  RETURNING query_id)
SELECT count(*), min(query_id) INTO _found, _query FROM leased;
EXIT WHEN _found = 0;
_leased := _leased + _found; _reached := _query;
END LOOP;
IF _reached <> _place.cursor THEN
  UPDATE judging_roundannotator SET cursor = _reached WHERE id = _place.id;
END IF;
RETURN CASE WHEN _leased >= _n THEN _reached END;
""",
)  # fmt: skip

# The seat is found by its key, and not among what its person has leased, which the server believes to be nothing and
# which has a dead row for each grade. A grade that cannot be stored is an error, which takes the change of the seat back.
GIVE = Function(
    "judging_give_plainly",
    (
        "_round bigint", "_project bigint", "_role text", "_person bigint", "_seat bigint", "_grade bigint",
        "_cant_judge text", "_note text", "_guideline bigint", "_active_ms bigint", "_away_ms bigint", "_key text",
        "_at timestamptz",
    ),
    "bigint",
    "_entry bigint; _given bigint;",
    f"""
{LOCK}
UPDATE judging_seat SET state = 'done', lease_expires_at = NULL
 WHERE id = _seat AND round_id = _round AND coalesce(annotator_id, 0) = _person
   AND (state = 'leased') IS TRUE AND pass_number = 1
   AND EXISTS (SELECT 1 FROM judging_round r WHERE r.id = _round AND r.state = 'open')
   AND EXISTS (SELECT 1 FROM judging_roundannotator p WHERE p.round_id = _round AND p.annotator_id = _person)
   AND EXISTS (SELECT 1 FROM accounts_membership m
                WHERE m.project_id = _project AND m.user_id = _person AND m.role = _role
                  AND m.ended_at IS NULL FOR NO KEY UPDATE)
RETURNING entry_id INTO _entry;
IF NOT FOUND THEN RETURN NULL; END IF;
INSERT INTO judging_judgement (round_id, seat_id, entry_id, annotator_id, pass_number, grade, cant_judge, note, spans,
                               guideline_id, active_ms, away_ms, idempotency_key, supersedes_id, given_at)
VALUES (_round, _seat, _entry, _person, 1, _grade, _cant_judge, _note, '[]',
        _guideline, _active_ms, _away_ms, _key, NULL, _at)
RETURNING id INTO _given;
RETURN _given;
""",
)  # fmt: skip
