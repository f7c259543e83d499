"""Opening and closing rounds, and the guideline they are judged by."""

import pytest

from apps.accounts.enums import Role
from apps.audit.models import Event
from apps.common.errors import Refusal
from apps.judging.actions import rounds
from apps.judging.actions.guidelines import publish_guideline
from apps.judging.actions.rounds import close_round, open_round
from apps.judging.actions.seats import claim_seats
from apps.judging.core.plan import Plan
from apps.judging.enums import RoundState, SeatState
from apps.judging.execution.jobs import seat_counts
from apps.judging.models import Seat
from apps.retrieval.enums import PoolState
from tests.factories import AT, lead_of, make_member, make_project
from tests.judging.factories import grade_texts, judge_all, make_guideline, make_pool, make_round, people_of
from tests.running_jobs import run_jobs

pytestmark = pytest.mark.django_db


def open_in(project, pool, people, plan=None, **more):
    return open_round(
        project=project,
        actor=lead_of(project),
        pool=pool,
        guideline=more.pop("guideline", make_guideline(project)),
        annotators=people,
        plan=plan or Plan(seed=7),
        at=AT,
        **more,
    )


def test_a_round_has_exactly_the_seats_of_its_plan():
    round_ = make_round(queries=5, blocks=4, overlap=0.25)

    numbers = list(Seat.objects.filter(round=round_).values_list("number", flat=True))
    assert (len(numbers), numbers.count(2)) == (25, 5)
    assert round_.state == RoundState.OPEN


def test_the_same_seed_repeats_the_same_pairs():
    project = make_project()
    pool = make_pool(project, queries=5, blocks=4)
    people = [make_member(project, Role.ANNOTATOR) for _ in range(2)]

    one, two, other = (open_in(project, pool, people, Plan(seed=seed, judge_again=True)) for seed in (1, 1, 2))

    assert seat_counts(one) == seat_counts(two) != seat_counts(other)
    assert [r.name for r in (one, two, other)] == ["Round 1", "Round 2", "Round 3"]


def test_a_large_round_is_opened_by_a_job(monkeypatch):
    monkeypatch.setattr(rounds, "MOST_PAIRS_AT_ONCE", 5)
    round_ = make_round(queries=3, blocks=4, overlap=0.5)
    assert (round_.state, round_.seats.count()) == (RoundState.OPENING, 0)

    (job,) = run_jobs()

    round_.refresh_from_db()
    assert (round_.state, round_.seats.count()) == (RoundState.OPEN, 18)
    assert job.result == {"round": round_.pk, "pairs": 12, "seats": 18}
    judge_all(round_, people_of(round_)[0])


def test_nobody_grades_while_a_round_is_being_opened(monkeypatch):
    monkeypatch.setattr(rounds, "MOST_PAIRS_AT_ONCE", 5)
    round_ = make_round(queries=3, blocks=4)

    with pytest.raises(Refusal, match="being opened"):
        judge_all(round_, people_of(round_)[0])


def test_a_round_needs_a_complete_pool_with_pairs_a_guideline_and_people():
    project = make_project()
    pool = make_pool(project)
    mara = make_member(project, Role.ANNOTATOR)
    plan = Plan(overlap=0, seed=1)

    with pytest.raises(Refusal, match="at least one annotator"):
        open_in(project, pool, [], plan)
    with pytest.raises(Refusal, match="no guideline"):
        open_in(project, pool, [mara], plan, guideline=None)
    with pytest.raises(Refusal, match="One person judges a pair once"):
        open_in(project, pool, [mara], Plan(overlap=0.5, seed=1))
    with pytest.raises(Refusal, match="at least one annotator"):
        open_in(project, pool, [make_member(project, Role.VIEWER)], plan)
    pool.state, pool.completed_at = PoolState.PENDING, None
    pool.save(update_fields=["state", "completed_at"])
    with pytest.raises(Refusal, match="not complete"):
        open_in(project, pool, [mara], plan)
    assert not project.rounds.exists()


def test_closing_a_round_frees_leased_seats_and_is_recorded():
    round_ = make_round()
    claim_seats(round_=round_, annotator=people_of(round_)[0], n=2, at=AT)

    closed = close_round(round_id=round_.pk, actor=lead_of(round_.project), at=AT)

    assert closed.state == RoundState.CLOSED
    assert not Seat.objects.filter(round=round_, state=SeatState.LEASED).exists()
    event = Event.objects.get(action="round.closed")
    assert event.after == {"state": "closed", "planned": 10, "given": 0}
    with pytest.raises(Refusal, match="already closed"):
        close_round(round_id=round_.pk, actor=lead_of(round_.project), at=AT)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda texts: texts.pop(), "each grade of the scale once"),
        (lambda texts: texts[0].update(definition=" "), "no definition"),
        (lambda texts: texts[1].update(name=""), "no name"),
        (lambda texts: texts[2].update(examples=[""]), "is empty"),
        (lambda texts: texts[2].update(grade=1), "each grade of the scale once"),
    ],
)
def test_a_guideline_defines_every_grade(change, sentence):
    project = make_project()
    texts = grade_texts()
    change(texts)

    with pytest.raises(Refusal, match=sentence):
        publish_guideline(project=project, actor=lead_of(project), grades=texts, at=AT)
