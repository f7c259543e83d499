"""Give a grade, and what the plan requires after one: end a pilot, seat an extra judge."""

from datetime import datetime

from django.db import transaction
from django.db.models import BooleanField, Exists, ExpressionWrapper, Q, Subquery

from apps.accounts.models import User
from apps.accounts.rules import locked_roles
from apps.audit.actions import record
from apps.common.database.questions import Question, first_with
from apps.common.errors import Refusal
from apps.judging import rules
from apps.judging.actions.locks import locked_place_with
from apps.judging.actions.seats import may_lease
from apps.judging.core.answer import Answer, milliseconds, parse_spans, spans_refusal, stored
from apps.judging.core.plan import Plan, seat_number
from apps.judging.enums import SeatState
from apps.judging.models import Adjudication, Judgement, PilotDecision, Round, RoundAnnotator, Seat
from apps.judging.selectors.plans import judges_left, plan_of, undecided_pilot_queries
from apps.judging.selectors.rounds import alpha_over, answers_over, is_filled
from apps.metrics.agreement.counting import ordinal_alpha
from apps.retrieval.models import PoolQuery


def serialize_grades(round_: Round, seat: Seat) -> None:
    """Serialize the grades of one pilot, or of one query that may get an extra judge.

    Two people who give the last two grades at the same time would each miss the other's, and neither would be the last.
    Called before a seat is locked; takes no lock in rounds without such a plan.
    """
    if seat.pass_number != 1:
        return
    queries = undecided_pilot_queries(round_)
    if queries is not None and seat.query_id in queries:
        Round.objects.select_for_update(no_key=True).get(pk=round_.pk)
    if plan_of(round_).extra_bar is not None:
        query = PoolQuery.objects.select_for_update(no_key=True)
        query.filter(pool=round_.pool_id, query=seat.query_id).first()


def follow_up(round_: Round, judgement: Judgement, *, is_first: bool, at: datetime) -> None:
    """Do what the plan requires after a grade of the first pass; `is_first` where it supersedes none."""
    plan = plan_of(round_)
    if judgement.pass_number != 1:
        return
    if is_first and plan.is_repeated(judgement.annotator_id, judgement.entry_id):
        _reserve_repeat(round_, plan, judgement)
    query_id = judgement.seat.query_id
    queries = undecided_pilot_queries(round_)
    if queries is not None and query_id in queries:
        _end_pilot(round_, plan, queries, at)
    if plan.extra_bar is not None:
        _add_judges(round_, plan, query_id)


def _reserve_repeat(round_: Round, plan: Plan, judgement: Judgement) -> None:
    person, entry, first = judgement.annotator_id, judgement.entry_id, judgement.seat
    judged = Seat.objects.filter(round=round_, annotator=person, state=SeatState.DONE).count()
    Seat.objects.create(
        round=round_,
        entry_id=entry,
        query_id=first.query_id,
        number=seat_number(2, first.number),
        pass_number=2,
        reserved_for_id=person,
        due_after=plan.repeated_after(judged, person, entry),
    )


def _end_pilot(round_: Round, plan: Plan, queries: list[int], at: datetime) -> None:
    """Open the rest of the round once the pilot is judged and its α reaches its bar."""
    if not is_filled(round_, queries):
        return
    alpha = alpha_over(round_, queries)
    if not plan.passes(alpha):
        return
    PilotDecision.objects.create(round=round_, alpha=alpha, decided_at=at)
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


class JudgementRefused(Refusal):
    """A grade cannot be stored."""


@transaction.atomic
def give_judgement(*, seat: Seat, annotator: User, answer: Answer, idempotency_key: str, at: datetime) -> Judgement:
    """Store a person's grade of the pair of this seat.

    The same key again returns the judgement it made, whatever has happened since. A second grade by the same person is
    a new row that supersedes the first. A grade for a lapsed lease is stored as long as the pair has an empty seat;
    when others have filled them all it is refused, since a pair never gets more judgements than planned. What the plan
    requires after it (the repeated pair, the end of a pilot, an extra judge) is part of the same transaction.
    """
    sent = Judgement.objects.filter(annotator=annotator, idempotency_key=idempotency_key).values("pk")
    earlier = Question({"pk": Subquery(sent[:1])}, lambda found: found["pk"])
    place, given = locked_place_with(seat.round_id, annotator, earlier)
    if given is not None:
        return _same_answer(Judgement.objects.get(pk=given), seat, answer)
    if reason := rules.annotator_refusal(locked_roles(annotator, place.round.project)):
        raise JudgementRefused(reason, code="no_longer_annotator")
    _check(place.round, seat, answer)
    serialize_grades(place.round, seat)
    own = _own_seat(place, seat)
    judged = own.state == SeatState.DONE
    before, is_settled = _before(place.round, own) if judged else (None, False)
    if reason := _state_refusal(place.round, judged=judged, is_settled=is_settled):
        raise JudgementRefused(reason, code="grade_not_possible")
    if before and not answer.is_again:
        raise JudgementRefused(_elsewhere(before), code="graded_elsewhere")
    judgement = _write(place.round, own, annotator, answer, idempotency_key, before, at)
    if not judged:
        own.state, own.annotator, own.lease_expires_at = SeatState.DONE, annotator, None
        own.save(update_fields=["state", "annotator", "lease_expires_at"])
    follow_up(place.round, judgement, is_first=not judged, at=at)
    return judgement


def _elsewhere(before: Judgement) -> str:
    words = "“can’t judge”" if before.grade is None else f"grade {before.grade}"
    return f"You already answered {words} for this pair, in another window. That answer counts; undo returns to it."


def _check(round_: Round, seat: Seat, answer: Answer) -> None:
    if reason := rules.answer_refusal(round_.project, answer.grade, answer.cant_judge):
        raise JudgementRefused(reason, code="not_an_answer")
    if answer.spans and (reason := spans_refusal(answer.spans, seat.entry.version.text)):
        raise JudgementRefused(reason, code="evidence_outside_text")


def _before(round_: Round, seat: Seat) -> tuple[Judgement, bool]:
    """The answer in force on a judged seat, and whether a lead has decided on its pair."""
    settled = Exists(Adjudication.objects.filter(round=round_, entry=seat.entry_id))
    asked = Question({"settled": settled}, lambda found: bool(found["settled"]))
    found = first_with(Judgement.objects.filter(seat=seat, superseded_by=None), asked)
    assert found is not None, "a seat is done with its judgement"
    return found


def _state_refusal(round_: Round, *, judged: bool, is_settled: bool) -> str | None:
    return rules.regrade_refusal(round_, is_adjudicated=is_settled) if judged else rules.grading_refusal(round_)


def _own_seat(place: RoundAnnotator, seat: Seat) -> Seat:
    """Lock this person's seat of this pair, or else a free one that nobody is about to take.

    The person's own row is locked already, and a locked free seat is skipped, so no two requests wait for each other.
    """
    pair = Seat.objects.filter(round=seat.round_id, entry=seat.entry_id, pass_number=seat.pass_number)
    if own := pair.select_for_update().filter(annotator=place.annotator_id).first():
        return own
    if not may_lease(place, seat.query_id):
        raise JudgementRefused("This pair is not assigned to you. Continue with your own pairs.", code="seat_not_open")
    theirs = Q(reserved_for=None) | Q(reserved_for=place.annotator_id)
    is_mine = ExpressionWrapper(Q(meant_for=place.annotator_id), output_field=BooleanField())
    free = pair.filter(theirs, state=SeatState.OPEN).order_by(is_mine.desc(nulls_last=True), "pk")
    if open_seat := free.select_for_update(skip_locked=True).first():
        return open_seat
    raise JudgementRefused(
        "This pair was assigned to somebody else in the meantime. Your grade is no longer needed.",
        code="seat_lapsed",
    )


def _write(
    round_: Round,
    seat: Seat,
    annotator: User,
    answer: Answer,
    key: str,
    before: Judgement | None,
    at: datetime,
) -> Judgement:
    return Judgement.objects.create(
        round=round_,
        seat=seat,
        entry_id=seat.entry_id,
        annotator=annotator,
        pass_number=seat.pass_number,
        grade=answer.grade,
        cant_judge=answer.cant_judge,
        note=answer.note.strip(),
        spans=stored(parse_spans(answer.spans)),
        guideline_id=round_.guideline_id,
        active_ms=milliseconds(answer.active_ms),
        away_ms=milliseconds(answer.away_ms),
        idempotency_key=key,
        supersedes=before,
        given_at=at,
    )


def _same_answer(earlier: Judgement, seat: Seat, answer: Answer) -> Judgement:
    stored = (earlier.entry_id, earlier.grade, earlier.cant_judge, earlier.note)
    if stored != (seat.entry_id, answer.grade, answer.cant_judge, answer.note.strip()):
        raise JudgementRefused("This key was used for another grade.", code="key_reused")
    return earlier
