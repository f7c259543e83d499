"""Give a grade, and what the plan requires after one; and choose the keys of the judging screen.

After a grade may come the pair again, the end of a pilot, or an extra judge.
"""

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple

from django.db import connection, transaction
from django.db.backends.utils import CursorWrapper
from django.http import Http404

from apps.accounts.enums import Role
from apps.accounts.models import Project, User
from apps.accounts.rules import ProjectArchived
from apps.audit.actions import record
from apps.common.database.statements import LARGEST_KEY, prepared_cursor, rows_of, run, time_value
from apps.common.errors import Refusal
from apps.judging import rules
from apps.judging.actions.rounds import NotAnnotator
from apps.judging.actions.seats import Bounds
from apps.judging.core import keymap
from apps.judging.core.plan import Plan, seat_number
from apps.judging.core.resolution import Answer, facets_refusal, milliseconds, parse_spans, spans_refusal, stored
from apps.judging.enums import SeatState
from apps.judging.models import Adjudication, Judgement, KeyMap, PilotDecision, Round, Seat
from apps.judging.selectors.leases import judged_by
from apps.judging.selectors.plans import judges_left, pilot_queries, plan_of
from apps.judging.selectors.rounds import alpha_over, answers_over, is_filled
from apps.metrics.agreement.counting import ordinal_alpha
from apps.queries.execution.ingest import lock_facets

# Statements that SQLite and PostgreSQL share.

# The person's place, and then the role by which they grade: removing somebody and archiving lock it too.
PLACE_AND_ROLE = """
WITH place AS MATERIALIZED (
  SELECT p.id FROM judging_roundannotator p
   WHERE p.round_id = %(round)s AND p.annotator_id = %(person)s [FOR UPDATE]),
role AS MATERIALIZED (
  SELECT m.id FROM accounts_membership m
   WHERE m.project_id = %(project)s AND m.user_id = %(person)s AND m.role = %(role)s AND m.ended_at IS NULL
   [FOR NO KEY UPDATE])
SELECT (SELECT count(*) FROM place), (SELECT count(*) FROM role)
"""
# All that a grade is decided on. `o` is the seat that this person has of the pair, in the pass of the seat `s` they
# name; `b` is their answer in force on it. A first grade is final once its judge has seen those of the others, or
# another judge has answered after seeing it.
CONTEXT = """
SELECT s.entry_id, s.query_id, s.pass_number, r.state, p.id, p."only", j.archived_at IS NOT NULL,
       (SELECT g.id FROM judging_judgement g WHERE g.annotator_id = %(person)s AND g.idempotency_key = %(key)s),
       EXISTS (SELECT 1 FROM accounts_membership m
                WHERE m.project_id = r.project_id AND m.user_id = %(person)s AND m.role = %(role)s
                  AND m.ended_at IS NULL),
       EXISTS (SELECT 1 FROM judging_pilotdecision d WHERE d.round_id = r.id),
       EXISTS (SELECT 1 FROM judging_adjudication a WHERE a.round_id = r.id AND a.entry_id = s.entry_id),
       EXISTS (SELECT 1 FROM judging_secondlook k WHERE k.round_id = r.id AND k.entry_id = s.entry_id
                AND (k.judge_id = %(person)s
                     OR EXISTS (SELECT 1 FROM judging_secondgrade w WHERE w.look_id = k.id))),
       o.id, o.state, b.id, b.grade
  FROM judging_seat s
  JOIN judging_round r ON r.id = s.round_id
  JOIN accounts_project j ON j.id = r.project_id
  LEFT JOIN judging_roundannotator p ON p.round_id = r.id AND p.annotator_id = %(person)s
  LEFT JOIN judging_seat o ON o.round_id = s.round_id AND o.annotator_id = %(person)s AND o.entry_id = s.entry_id
        AND o.pass_number = s.pass_number
  LEFT JOIN judging_judgement b ON b.seat_id = o.id
        AND (SELECT count(*) FROM judging_judgement l WHERE l.supersedes_id = b.id) = 0
 WHERE s.id = %(seat)s AND s.round_id = %(round)s
"""
FILL = """
UPDATE judging_seat SET state = 'done', lease_expires_at = NULL
 WHERE id = %(own)s AND annotator_id = %(person)s AND state = 'leased' RETURNING id, number
"""
# A free seat of the pair that nobody is about to take: of this person's share, or else of anybody's.
FILL_FREE = """
WITH chosen AS MATERIALIZED (
  SELECT f.id FROM judging_seat f
   WHERE f.round_id = %(round)s AND f.entry_id = %(entry)s AND f.pass_number = %(pass)s AND f.state = 'open'
     AND (f.reserved_for_id IS NULL OR f.reserved_for_id = %(person)s)
   ORDER BY CASE WHEN f.meant_for_id = %(person)s THEN 0 ELSE 1 END, f.id
   LIMIT 1 [FOR UPDATE OF f SKIP LOCKED])
UPDATE judging_seat SET state = 'done', annotator_id = %(person)s, lease_expires_at = NULL
 WHERE id IN (SELECT id FROM chosen) RETURNING id, number
"""
IS_WITHIN = "SELECT count(*) FROM judging_seat s WHERE s.id = %(seat)s AND {}"
GIVE = """
INSERT INTO judging_judgement (round_id, seat_id, entry_id, annotator_id, pass_number, grade, cant_judge, note, spans,
                               facets, guideline_id, active_ms, away_ms, idempotency_key, supersedes_id, given_at)
VALUES (%(round)s, %(own)s, %(entry)s, %(person)s, %(pass)s, %(grade)s, %(cant_judge)s, %(note)s, %(spans)s,
        %(facets)s, %(guideline)s, %(active_ms)s, %(away_ms)s, %(key)s, %(supersedes)s, %(at)s)
RETURNING id
"""
FACETS = "SELECT q.facets, q.facets_locked_at IS NOT NULL FROM queries_query q WHERE q.id = %(query)s"
REPEAT = """
INSERT INTO judging_seat (round_id, entry_id, query_id, number, pass_number, state, reserved_for_id, due_after)
VALUES (%(round)s, %(entry)s, %(query)s, %(number)s, 2, 'open', %(person)s, %(due)s)
"""
TEXT = """
SELECT v.text FROM retrieval_poolentry e JOIN corpus_blockversion v ON v.id = e.version_id WHERE e.id = %(entry)s
"""
ROUND = "SELECT r.id FROM judging_round r WHERE r.id = %(round)s [FOR NO KEY UPDATE]"
QUERY = """
SELECT w.id FROM retrieval_poolquery w WHERE w.pool_id = %(pool)s AND w.query_id = %(query)s [FOR NO KEY UPDATE]
"""


class GradeContext(NamedTuple):
    """One row of CONTEXT."""

    entry: int
    query: int
    pass_number: int
    state: str
    place: int | None
    only: str | None
    is_archived: bool
    sent: int | None
    is_annotator: bool
    is_decided: bool
    is_settled: bool
    is_compared: bool
    own: int | None
    own_state: str | None
    before: int | None
    before_grade: int | None


class JudgementRefused(Refusal):
    """A grade cannot be stored."""


@transaction.atomic
def give_judgement(
    *, round_: Round, seat_id: int, annotator: User, answer: Answer, idempotency_key: str, at: datetime
) -> Judgement:
    """Store a person's grade of the pair of this seat. Raises Http404 for a seat that is not of the round.

    The same key again returns the judgement it made, whatever has happened since. A second grade by the same person is
    a new row that supersedes the first. A grade for a lapsed lease is stored as long as the pair has an empty seat;
    when others have filled them all it is refused, since a pair never gets more judgements than planned. What the plan
    requires after it (the repeated pair, the end of a pilot, an extra judge) is part of the same transaction.
    """
    facts = {
        "round": round_.pk, "pool": round_.pool_id, "project": round_.project_id, "person": annotator.pk,
        "role": Role.ANNOTATOR.value, "seat": min(seat_id, LARGEST_KEY), "key": idempotency_key,
    }  # fmt: skip
    with prepared_cursor() as cursor:
        context = _locked_context(cursor, facts)
        if context.sent is not None:
            return _same_answer(Judgement.objects.get(pk=context.sent), context, answer)
        facts |= {"entry": context.entry, "query": context.query, "pass": context.pass_number, "own": context.own}
        is_first = context.own_state != SeatState.DONE
        _refuse(round_, context, answer, is_first=is_first)
        _check_spans(cursor, facts, answer)
        facts["facets"] = _facets(cursor, facts, answer, at)
        plan = plan_of(round_)
        if is_first:
            facts["own"], facts["number"] = _fill(cursor, facts, round_, context)
        given = _give(cursor, facts, round_, answer, context.before, at)
        if is_first and context.pass_number == 1 and plan.is_repeated(annotator.pk, context.entry):
            _reserve_repeat(cursor, facts, plan)
        if context.pass_number == 1 and not context.is_decided and context.query in pilot_queries(round_):
            _in_turn(cursor, ROUND, facts)
            _end_pilot(round_, plan, at)
        if context.pass_number == 1 and plan.extra_bar is not None:
            _in_turn(cursor, QUERY, facts)
            _add_judges(round_, plan, context.query)
    return given


def _locked_context(cursor: CursorWrapper, facts: Mapping[str, Any]) -> GradeContext:
    """Lock the person's place and their role, and read what is there then. Raises Http404, NotAnnotator."""
    if connection.features.has_select_for_update:
        run(cursor, PLACE_AND_ROLE, facts)
    rows = rows_of(cursor, CONTEXT, facts)
    if not rows:
        raise Http404("No such seat.")
    context = GradeContext(*rows[0])
    if context.place is None:
        raise NotAnnotator()
    return context


def _refuse(round_: Round, context: GradeContext, answer: Answer, *, is_first: bool) -> None:
    """Every reason against a grade but those of its seat and its evidence. Raises JudgementRefused, ProjectArchived."""
    if reason := rules.annotator_refusal([Role.ANNOTATOR] if context.is_annotator else []):
        raise JudgementRefused(reason, code="no_longer_annotator")
    if context.is_archived:
        ProjectArchived.unless_open(Project.objects.get(pk=round_.project_id))
    if reason := rules.answer_refusal(round_.project, answer.grade, answer.cant_judge):
        raise JudgementRefused(reason, code="not_an_answer")
    if is_first:
        reason = rules.grading_refusal(context.state)
    else:
        reason = rules.regrade_refusal(
            context.state, is_adjudicated=context.is_settled, is_compared=context.is_compared
        )
    if reason:
        raise JudgementRefused(reason, code="grade_not_possible")
    if not is_first and not answer.is_again:
        raise JudgementRefused(_elsewhere(context.before_grade), code="graded_elsewhere")


def _elsewhere(grade: int | None) -> str:
    words = "“can’t judge”" if grade is None else f"grade {grade}"
    return f"You already answered {words} for this pair, in another window. That answer counts; undo returns to it."


def _check_spans(cursor: CursorWrapper, facts: Mapping[str, Any], answer: Answer) -> None:
    if not answer.spans:
        return
    ((text,),) = rows_of(cursor, TEXT, facts)
    JudgementRefused.raise_for(spans_refusal(answer.spans, text), code="evidence_outside_text")


def _facets(cursor: CursorWrapper, facts: Mapping[str, Any], answer: Answer, at: datetime) -> list[str] | None:
    """The subtopics that the answer names, in the order of the query; from now on the query's are fixed.

    None where it names none because nobody was asked: a query without subtopics, "can't judge", an old page.
    """
    if answer.facets is None or answer.grade is None:
        JudgementRefused.raise_for(facets_refusal(answer.facets or [], answer.facets or [], None), code="facets_wrong")
        return None
    ((written, is_locked),) = rows_of(cursor, FACETS, facts)
    if json.loads(written) and not is_locked:
        lock_facets([facts["query"]], at=at)
        ((written, _),) = rows_of(cursor, FACETS, facts)  # as they are now, whoever edited them meanwhile
    known = [facet["id"] for facet in json.loads(written)]
    JudgementRefused.raise_for(facets_refusal(answer.facets, known, answer.grade), code="facets_wrong")
    return [facet for facet in known if facet in answer.facets] if known else None


def _fill(cursor: CursorWrapper, facts: Mapping[str, Any], round_: Round, context: GradeContext) -> tuple[int, int]:
    """Fill this person's seat of the pair, or else a free one; return its key and its number.

    The person's own place is locked, and a locked free seat is skipped, so no two requests wait for each other.
    """
    if context.own is not None and (filled := rows_of(cursor, FILL, facts)):
        return filled[0]
    bounds = Bounds.of(round_, context.only, is_decided=context.is_decided)
    ((within,),) = rows_of(cursor, IS_WITHIN.format(bounds.on("s")), {**facts, **bounds.values})
    if not within:
        raise JudgementRefused("This pair is not assigned to you. Continue with your own pairs.", code="seat_not_open")
    if filled := rows_of(cursor, FILL_FREE, facts):
        return filled[0]
    raise JudgementRefused(
        "This pair was assigned to somebody else in the meantime. Your grade is no longer needed.",
        code="seat_lapsed",
    )


def _give(
    cursor: CursorWrapper, facts: Mapping[str, Any], round_: Round, answer: Answer, before: int | None, at: datetime
) -> Judgement:
    spans = stored(parse_spans(answer.spans)) if answer.spans else []
    values = {
        "grade": answer.grade, "cant_judge": answer.cant_judge, "note": answer.note.strip(),
        "active_ms": milliseconds(answer.active_ms), "away_ms": milliseconds(answer.away_ms),
    }  # fmt: skip
    guideline = round_.guideline_id
    facets = facts["facets"]
    more = {
        "spans": json.dumps(spans), "facets": None if facets is None else json.dumps(facets), "guideline": guideline,
        "supersedes": before, "at": time_value(at),
    }  # fmt: skip
    ((pk,),) = rows_of(cursor, GIVE, {**facts, **values, **more})
    return Judgement(
        pk=pk, round=round_, seat_id=facts["own"], entry_id=facts["entry"], annotator_id=facts["person"],
        pass_number=facts["pass"], spans=spans, facets=facets, guideline_id=guideline, idempotency_key=facts["key"],
        supersedes_id=before, given_at=at, **values,
    )  # fmt: skip


def _reserve_repeat(cursor: CursorWrapper, facts: Mapping[str, Any], plan: Plan) -> None:
    person = facts["person"]
    due = plan.repeated_after(judged_by(facts["round"], person), person, facts["entry"])
    run(cursor, REPEAT, {**facts, "number": seat_number(2, facts["number"]), "due": due})


def _same_answer(earlier: Judgement, context: GradeContext, answer: Answer) -> Judgement:
    stored = (earlier.entry_id, earlier.grade, earlier.cant_judge, earlier.note, set(earlier.facets or ()))
    if stored != (context.entry, answer.grade, answer.cant_judge, answer.note.strip(), set(answer.facets or ())):
        raise JudgementRefused("This key was used for another grade.", code="key_reused")
    return earlier


def _in_turn(cursor: CursorWrapper, lock: str, facts: Mapping[str, Any]) -> None:
    """Let the grades of one pilot, or of one query that may get an extra judge, be looked at one after the other.

    Two people who give the last two grades at the same time would each miss the other's, and neither would be the last.
    """
    if connection.features.has_select_for_update:
        run(cursor, lock, facts)


def _end_pilot(round_: Round, plan: Plan, at: datetime) -> None:
    """Open the rest of the round once the pilot is judged and its α reaches its bar."""
    queries = pilot_queries(round_)
    if not is_filled(round_, queries):
        return
    alpha = alpha_over(round_, queries)
    if not plan.passes(alpha):
        return
    _, is_new = PilotDecision.objects.get_or_create(round=round_, defaults={"alpha": alpha, "decided_at": at})
    if is_new:
        after = {"alpha": alpha, "bar": plan.pilot_bar}
        record(project=round_.project, actor=None, action="round.pilot_passed", obj=round_, after=after, at=at)


def _add_judges(round_: Round, plan: Plan, query_id: int) -> None:
    """Give the repeated pairs of a query one more judge while its α is low and somebody can still judge it."""
    if not is_filled(round_, [query_id]):
        return
    answers = answers_over(round_, [query_id])
    alpha, left = ordinal_alpha(answers.values()), judges_left(round_, query_id)
    decided = set(Adjudication.objects.filter(round=round_, entry__in=answers).values_list("entry", flat=True))
    Seat.objects.bulk_create(
        Seat(round=round_, entry_id=entry, query_id=query_id, number=seat_number(1, len(grades) + 1))
        for entry, grades in sorted(answers.items())
        if 1 < len(grades) < left and entry not in decided and plan.wants_extra(alpha, len(grades))
    )


class KeysRefused(Refusal):
    """This choice of keys is invalid. `faults` has a sentence for each act."""

    faults: dict[str, str]


@transaction.atomic
def choose_keys(*, person: User, keys: Mapping[str, str], digits_are_free: bool = False) -> dict[str, str]:
    """Store the keys that this person chose for acts of the judging screen, and return the key of every act.

    Other acts keep their key, unless it was given to another one. No event is recorded: keys are personal, and no grade
    depends on them.
    """
    person = User.objects.select_for_update(no_key=True).get(pk=person.pk)
    wanted = {name: keymap.tidy(key) for name, key in keys.items()}
    if faults := keymap.faults(wanted, digits_are_free=digits_are_free):
        refusal = KeysRefused(next(iter(faults.values())), code="keys_not_possible")
        refusal.faults = faults
        raise refusal
    row = KeyMap.objects.filter(person=person).first()
    used = set(wanted.values())
    unchanged = {name: key for name, key in (row.keys if row else {}).items() if name not in wanted and key not in used}
    chosen = unchanged | keymap.changed_keys(wanted)
    KeyMap.objects.update_or_create(person=person, defaults={"keys": chosen})
    return keymap.keys_of(chosen)


@transaction.atomic
def reset_keys(*, person: User) -> None:
    """Give every act its default key again."""
    KeyMap.objects.filter(person=person).delete()
