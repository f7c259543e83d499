"""What follows a first grade: the repeated pair, the end of a pilot, an extra judge. In the grade's transaction."""

from datetime import datetime

from apps.audit.actions import record
from apps.judging.core.plan import Plan, seat_number
from apps.judging.enums import SeatState
from apps.judging.models import Adjudication, Judgement, PilotDecision, Round, Seat
from apps.judging.selectors.pilots import alpha_over, answers_over, is_filled
from apps.judging.selectors.plans import judges_left
from apps.judging.selectors.round_plan import plan_of, undecided_pilot_queries
from apps.metrics.agreement.alpha_values import ordinal_alpha
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
