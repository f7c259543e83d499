"""The judging rounds of the demo: three annotators grade, a lead settles their differences."""

from datetime import timedelta

from apps.accounts.models import User
from apps.dashboard.core import demo_people
from apps.dashboard.execution.demo import material
from apps.dashboard.execution.demo.stage import Stage
from apps.judging.actions.adjudication import adjudicate
from apps.judging.actions.judgements import give_judgement
from apps.judging.actions.rounds import close_round, open_round
from apps.judging.actions.seats import claim_seats
from apps.judging.core.answer import Answer
from apps.judging.core.plan import Plan
from apps.judging.enums import ErrorType
from apps.judging.models import Round, Seat
from apps.judging.selectors.pairs import adjudicable
from apps.judging.selectors.rounds import entry_in
from apps.retrieval.models import Pool

BATCH = 20
SECONDS_A_PAIR = {"mara": 74, "sef": 41, "ines": 96}


def first_round(stage: Stage) -> Round:
    """Everything is judged within three weeks, a third of it by two, and every disagreement is settled.

    A tenth comes back to the same person, so that the home page can show drift.
    """
    annotators = {key: stage.people[key] for key in demo_people.ANNOTATORS}
    plan = Plan(overlap=0.34, judges=2, seed=7, again=0.1)
    round_ = _open(stage, stage.first_pool(), list(annotators.values()), plan, "Spring round", day=3)
    _grade_in_turns(stage, round_, annotators, day=3.2, pause=2.05, most=None)
    _settle(stage, round_, day=24)
    return close_round(round_id=round_.pk, actor=stage.lead, at=stage.at(25))


def second_round(stage: Stage, pool: Pool, *, day: float) -> Round:
    """An open round: most of it is graded, and the host can continue it.

    Pairs of the first round are judged again. Otherwise nothing would be left for the host to grade.
    """
    annotators = {key: stage.people[key] for key in demo_people.ANNOTATORS}
    plan = Plan(overlap=0.5, judges=2, seed=11, judge_again=True)
    people = [*annotators.values(), stage.host]
    round_ = _open(stage, pool, people, plan, "Hard queries", day=day)
    _grade_in_turns(stage, round_, annotators, day=day + 0.2, pause=0.6, most=45)
    return round_


def _open(stage: Stage, pool: Pool, people: list[User], plan: Plan, name: str, *, day: float) -> Round:
    return open_round(
        project=stage.project,
        actor=stage.lead,
        pool=pool,
        guideline=stage.guideline(),
        annotators=people,
        plan=plan,
        name=name,
        at=stage.at(day),
    )


def _grade_in_turns(
    stage: Stage, round_: Round, annotators: dict[str, User], *, day: float, pause: float, most: int | None
) -> None:
    """Let the annotators take turns, a batch each, until nothing is left or each has given `most` grades.

    `pause` is the time between turns, in days.
    """
    given = dict.fromkeys(annotators, 0)
    active = list(annotators)
    while active:
        for key in list(active):
            wanted = BATCH if most is None else min(BATCH, most - given[key])
            done = _grade_batch(stage, round_, key, annotators[key], wanted, day) if wanted else 0
            given[key] += done
            if not done:
                active.remove(key)
        day += pause


def _grade_batch(stage: Stage, round_: Round, key: str, user: User, wanted: int, day: float) -> int:
    at = stage.at(day)
    seats = claim_seats(round_=round_, annotator=user, n=wanted, at=at)
    pairs = Seat.objects.filter(pk__in=[seat.pk for seat in seats]).select_related("query", "entry__version__block")
    by_id = {seat.pk: seat for seat in pairs}
    for place, seat in enumerate((by_id[seat.pk] for seat in seats), start=1):
        at += timedelta(seconds=SECONDS_A_PAIR[key])
        query_id, block_id = seat.query.outside_id, seat.entry.version.block.outside_id
        careful = material.careful_grade(query_id, block_id)
        given = demo_people.graded(key, query_id, block_id, careful, is_again=seat.pass_number > 1)
        answer = Answer(
            grade=given.grade,
            cant_judge=given.cant_judge,
            note=given.note,
            active_ms=SECONDS_A_PAIR[key] * 1000 - 700 * (place % 7),
            away_ms=0,
        )
        idempotency_key = f"demo-{round_.pk}-{seat.pk}"
        give_judgement(
            round_=round_, seat_id=seat.pk, annotator=user, answer=answer, idempotency_key=idempotency_key, at=at
        )
    return len(seats)


def _settle(stage: Stage, round_: Round, *, day: float) -> None:
    for pair in list(adjudicable(round_, stage.lead)):
        entry = entry_in(round_, pair.entry_id)
        query_id, block_id = entry.query.outside_id, entry.version.block.outside_id
        grade = material.careful_grade(query_id, block_id)
        adjudicate(
            round_=round_,
            entry=entry,
            adjudicator=stage.lead,
            grade=grade,
            reason=_ruling(grade),
            error_type=ErrorType.SLIP if grade in (0, 3) else ErrorType.UNCLEAR_GUIDELINE,
            at=stage.at(day),
        )


def _ruling(grade: int) -> str:
    return {
        0: "Shares words with the query and nothing else.",
        1: "The subject fits, but nothing here answers what the intent asks for.",
        2: "Part of the answer is here; the rest is in another section.",
        3: "Read on its own, this passage answers the intent.",
    }[grade]
