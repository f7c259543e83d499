"""The judging rounds of the demo: three annotators grade, a lead settles their differences.

The annotators differ: each has a temperament that determines, by a hash of person and pair, where they deviate from the
careful reader's grade. So the demo's agreement is computed from real rows, and the same on every machine.
"""

import hashlib
from datetime import timedelta
from typing import NamedTuple

from apps.accounts.models import User
from apps.dashboard.execution.demo import material
from apps.dashboard.execution.demo.stage import Stage
from apps.judging.actions.adjudication import adjudicate
from apps.judging.actions.judgements import give_judgement
from apps.judging.actions.rounds import close_round, open_round
from apps.judging.actions.seats import claim_seats
from apps.judging.core.plan import Plan
from apps.judging.core.resolution import Answer
from apps.judging.enums import ErrorType
from apps.judging.models import Round, Seat
from apps.judging.selectors.deciding import adjudicable
from apps.judging.selectors.rounds import entry_in
from apps.retrieval.models import Pool

BATCH = 20
SECONDS_A_PAIR = {"mara": 74, "sef": 41, "ines": 96}
HIGHEST = 3
WAVERING = 0.4


class Temperament(NamedTuple):
    """How often a person deviates: shares of pairs, 0 to 1.

    `generous` and `strict`: one grade up or down; half as often, a generous person grades a block that is not
    relevant above 0. `hasty`: grades a related block as not relevant. `unsure`: can't judge.
    """

    generous: float
    strict: float
    hasty: float
    unsure: float


class DemoGrade(NamedTuple):
    """A grade, or None with the reason why it cannot be given."""

    grade: int | None
    cant_judge: str = ""
    note: str = ""


ANNOTATORS = {
    "mara": Temperament(generous=0.07, strict=0.07, hasty=0.06, unsure=0.004),
    "sef": Temperament(generous=0.24, strict=0.10, hasty=0.22, unsure=0.012),
    "ines": Temperament(generous=0.08, strict=0.20, hasty=0.10, unsure=0.006),
}


def first_round(stage: Stage) -> Round:
    """Everything is judged within three weeks, a third of it by two, and every disagreement is settled.

    A tenth comes back to the same person, so that the home page can show drift.
    """
    annotators = {key: stage.people[key] for key in ANNOTATORS}
    plan = Plan(overlap=0.34, judges=2, seed=7, again=0.1)
    round_ = _open(stage, stage.first_pool(), list(annotators.values()), plan, "Spring round", day=3)
    _grade_in_turns(stage, round_, annotators, day=3.2, pause=2.05, most=None)
    _settle(stage, round_, day=24)
    return close_round(round_id=round_.pk, actor=stage.lead, at=stage.at(25))


def second_round(stage: Stage, pool: Pool, *, day: float) -> Round:
    """An open round: most of it is graded, and the host can continue it.

    Pairs of the first round are judged again. Otherwise nothing would be left for the host to grade.
    """
    annotators = {key: stage.people[key] for key in ANNOTATORS}
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
        given = graded(key, query_id, block_id, careful, is_again=seat.pass_number > 1)
        answer = Answer(
            grade=given.grade,
            cant_judge=given.cant_judge,
            note=given.note,
            facets=_chosen(key, query_id, block_id, given.grade),
            active_ms=SECONDS_A_PAIR[key] * 1000 - 700 * (place % 7),
            away_ms=0,
        )
        idempotency_key = f"demo-{round_.pk}-{seat.pk}"
        give_judgement(
            round_=round_, seat_id=seat.pk, annotator=user, answer=answer, idempotency_key=idempotency_key, at=at
        )
    return len(seats)


def _chosen(person: str, query_id: str, block_id: str, grade: int | None) -> list[str] | None:
    """The subtopics that a person chooses with a grade: the careful reader's, of which the hasty overlook some."""
    careful = material.careful_facets(query_id, block_id)
    if careful is None or grade is None:
        return None
    hasty = ANNOTATORS[person].hasty
    return [one for one in careful if grade and share(person, query_id, block_id, one) >= hasty]


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


def graded(person: str, query_id: str, block_id: str, careful: int, *, is_again: bool = False) -> DemoGrade:
    """The answer of `person` to a pair with the careful reader's grade `careful`.

    When a pair comes back (`is_again`) they decide again on a share of WAVERING.
    """
    temper = ANNOTATORS[person]
    if share(person, query_id, block_id, "unsure") < temper.unsure:
        return DemoGrade(None, "missing_context", "The passage points to another section that I cannot see here.")
    mood = share(person, query_id, block_id, "mood")
    if is_again and share(person, query_id, block_id, "again") < WAVERING:
        mood = share(person, query_id, block_id, "mood again")
    if careful == 0:
        return DemoGrade(0 if mood > temper.generous / 2 else 2 if mood < temper.generous / 12 else 1)
    if careful == 1 and mood < temper.hasty:
        return DemoGrade(0)
    if mood < temper.hasty + temper.generous and careful < HIGHEST:
        return DemoGrade(careful + 1)
    if mood > 1 - temper.strict:
        return DemoGrade(careful - 1, note="It points in the right direction but leaves a part out.")
    return DemoGrade(careful)


def share(*words: str) -> float:
    """A number from 0 to below 1, determined by the words."""
    digest = hashlib.sha256("\x1f".join(words).encode()).digest()
    return int.from_bytes(digest[:8], "big") / 2**64
