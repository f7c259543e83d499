"""Opening and closing rounds, the guideline they are judged by, and what opens the rest of one after its pilot."""

import pytest
from django.urls import reverse

from apps.accounts.enums import Role
from apps.audit.models import Event
from apps.common.errors import Refusal
from apps.judging.actions import rounds
from apps.judging.actions.guidelines import publish_guideline
from apps.judging.actions.rounds import close_round, open_after_pilot, open_round
from apps.judging.actions.seats import claim_seats
from apps.judging.core.plan import Plan
from apps.judging.enums import RoundState, SeatState
from apps.judging.execution.jobs import seat_counts
from apps.judging.models import PilotDecision, Seat
from apps.judging.selectors.plans import pilot_queries, undecided_pilot_queries
from apps.judging.selectors.rounds import pilot_progress
from apps.retrieval.enums import PoolState
from tests.factories import AT, lead_of, make_member, make_project
from tests.judging.factories import give, grade_texts, judge_all, make_guideline, make_pool, make_round, people_of
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


@pytest.fixture
def round_():
    return make_round(queries=4, blocks=3, annotators=2, overlap=0.0, pilot=2, pilot_bar=0.7)


def by_place(seat):
    return seat.entry_id % 4


def open_rest(round_, reason="The guideline was read together."):
    return open_after_pilot(round_id=round_.pk, actor=lead_of(round_.project), reason=reason, at=AT)


def test_everybody_judges_the_pilot_and_nothing_else_before_it_is_decided(round_):
    mara, _ = people_of(round_)

    mine = judge_all(round_, mara, by_place)

    assert {judgement.seat.query_id for judgement in mine} == set(pilot_queries(round_))
    assert len(mine) == 6
    assert Seat.objects.filter(round=round_, query__in=pilot_queries(round_)).count() == 12
    assert Seat.objects.filter(round=round_).count() == 12 + 6


def test_agreement_opens_the_rest_by_itself(round_):
    mara, sef = people_of(round_)
    judge_all(round_, mara, by_place)
    assert not PilotDecision.objects.exists()

    judge_all(round_, sef, by_place)

    decision = PilotDecision.objects.get(round=round_)
    assert (decision.alpha, decision.decided_by) == (pytest.approx(1.0), None)
    assert Seat.objects.filter(round=round_, state="done").count() == 18
    assert Event.objects.get(action="round.pilot_passed").after == {"alpha": 1.0, "bar": 0.7}


def test_low_agreement_blocks_the_rest_until_a_grade_changes(round_):
    mara, sef = people_of(round_)
    mine, theirs = judge_all(round_, mara, by_place), judge_all(round_, sef, lambda seat: 3 - by_place(seat))
    assert not PilotDecision.objects.exists()
    assert claim_seats(round_=round_, annotator=mara, n=5, at=AT) == []

    first = {judgement.entry_id: judgement.grade for judgement in mine}
    for judgement in theirs:
        give(judgement.seat, sef, first[judgement.entry_id])

    assert PilotDecision.objects.get(round=round_).alpha >= 0.7
    assert claim_seats(round_=round_, annotator=mara, n=5, at=AT) != []


def test_a_lead_opens_the_rest_for_a_reason(round_):
    with pytest.raises(Refusal, match="needs a reason"):
        open_rest(round_, "  ")

    decision = open_rest(round_)

    assert (decision.alpha, decision.decided_by) == (None, lead_of(round_.project))
    assert undecided_pilot_queries(round_) is None
    assert Event.objects.get(action="round.pilot_opened").after["reason"] == "The guideline was read together."
    with pytest.raises(Refusal, match="This round is not waiting for a pilot"):
        open_rest(round_)


def test_a_closed_round_and_one_without_a_pilot_have_nothing_to_open(round_):
    close_round(round_id=round_.pk, actor=lead_of(round_.project), at=AT)

    with pytest.raises(Refusal, match="closed"):
        open_rest(round_)
    with pytest.raises(Refusal, match="not waiting for a pilot"):
        open_rest(make_round())


def test_a_grade_for_a_pair_outside_the_pilot_is_refused(round_):
    mara, _ = people_of(round_)
    behind = Seat.objects.filter(round=round_).exclude(query__in=pilot_queries(round_)).first()

    with pytest.raises(Refusal) as refusal:
        give(behind, mara)

    assert refusal.value.code == "seat_not_open"


def test_undefined_agreement_opens_nothing(round_):
    for person in people_of(round_):
        judge_all(round_, person, lambda seat: 1)

    found = pilot_progress(round_)
    assert (found.alpha, found.is_judged, found.is_waiting) == (None, True, True)


def test_the_page_of_a_round_shows_the_pilot_and_takes_the_reason(client, round_):
    lead = lead_of(round_.project)
    client.force_login(lead)
    page = reverse("judging:round", args=[round_.project.slug, round_.pk])
    address = reverse("judging:open-the-rest", args=[round_.project.slug, round_.pk])

    assert "Only the pilot is assigned so far" in client.get(page).content.decode()
    assert "needs a reason" in client.post(address, {"reason": ""}, follow=True).content.decode()
    client.post(address, {"reason": "Enough."})

    assert PilotDecision.objects.get().decided_by == lead
    assert "Enough." in client.get(page).content.decode()
