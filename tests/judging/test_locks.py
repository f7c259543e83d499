"""Two acts at one round on PostgreSQL: the later one decides on what the earlier one has left."""

import pytest

from apps.accounts.actions.projects import archive_project, set_roles
from apps.accounts.enums import Role
from apps.audit.models import Event
from apps.common.errors import Refusal
from apps.judging.actions.adjudication import settle_bulk
from apps.judging.actions.differences import answer_difference, look_at_difference
from apps.judging.actions.rounds import close_round
from apps.judging.actions.seats import claim_query_seats, claim_seats
from apps.judging.actions.unanswerable import vote_on_unanswerable
from apps.judging.core.resolution import ResolutionRule
from apps.judging.enums import RoundState, SeatState
from apps.judging.models import Adjudication, Judgement, Round, Seat, UnanswerableVote
from apps.judging.selectors.deciding import adjudicable
from apps.judging.selectors.pairs import live_judgements
from apps.judging.selectors.propagation import mark_of, trivial
from tests.factories import AT, lead_of, make_member, make_project
from tests.judging.factories import decide, entries_of, give, judge_all, later, make_round, people_of
from tests.judging.undecided import undecided_as_kept, undecided_by_hand
from tests.races import overlapping

pytestmark = [pytest.mark.postgres, pytest.mark.django_db(transaction=True)]


def close(round_):
    return close_round(round_id=round_.pk, actor=lead_of(round_.project), at=AT)


def counted(round_):
    """What the audit says was given when the round was closed."""
    return Event.objects.get(action="round.closed").after["given"]


def claimed(round_, person, n=1):
    return claim_seats(round_=round_, annotator=person, n=n, at=AT)


def make_split_round(**plan):
    """One pair, judged 1 and 2; the round is open."""
    round_ = make_round(queries=1, blocks=1, overlap=1.0, **plan)
    for grade, person in enumerate(people_of(round_), 1):
        judge_all(round_, person, lambda seat, g=grade: g)
    return round_


def settle(round_, seen, rule=ResolutionRule.LOWER):
    return settle_bulk(
        round_=round_, rule=rule, error_type="slip", adjudicator=lead_of(round_.project), seen=seen, at=AT
    )


def test_a_grade_that_meets_a_closing_round_is_refused():
    round_ = make_round(queries=1, blocks=2)
    mara = people_of(round_)[0]
    seat = claimed(round_, mara)[0]

    closed, grade = overlapping(lambda: close(round_), lambda: give(seat, mara))

    assert (closed.state, grade.code) == (RoundState.CLOSED, "grade_not_possible")
    assert (counted(round_), Judgement.objects.count()) == (0, 0)


@pytest.mark.parametrize("is_first", [True, False])
def test_a_grade_and_an_archive_of_the_project_come_one_after_the_other(is_first):
    round_ = make_round(queries=1, blocks=2)
    mara, project = people_of(round_)[0], round_.project
    seat = claimed(round_, mara)[0]
    acts = [lambda: give(seat, mara), lambda: archive_project(project_id=project.pk, actor=lead_of(project), at=AT)]

    first, second = overlapping(*(acts if is_first else reversed(acts)))

    assert (second.archived_at if is_first else second.code) == (AT if is_first else "archived")
    assert list(live_judgements(round_)) == ([first] if is_first else [])


def test_a_round_that_closes_on_a_grade_counts_it():
    round_ = make_round(queries=1, blocks=2)
    mara = people_of(round_)[0]
    seat = claimed(round_, mara)[0]

    grade, closed = overlapping(lambda: give(seat, mara), lambda: close(round_))

    assert closed.state == RoundState.CLOSED
    assert list(live_judgements(round_)) == [grade]
    assert counted(round_) == 1


def test_a_late_grade_on_a_free_seat_is_refused_while_the_round_closes():
    round_ = make_round(queries=1, blocks=1)
    mara = people_of(round_)[0]
    seat = Seat.objects.get(round=round_)

    _, grade = overlapping(lambda: close(round_), lambda: give(seat, mara))

    assert grade.code == "grade_not_possible"
    assert counted(round_) == Judgement.objects.count() == 0


def test_nobody_is_given_a_pair_of_a_closing_round():
    round_ = make_round(queries=2, blocks=2)

    _, refused = overlapping(lambda: close(round_), lambda: claimed(round_, people_of(round_)[0], 3))

    assert refused.code == "round_not_open"
    assert not Seat.objects.exclude(state=SeatState.OPEN).exists()


def test_a_query_of_a_closing_round_is_given_to_nobody():
    round_ = make_round(queries=2, blocks=8)
    mara = people_of(round_)[0]
    claimed(round_, mara, 5)

    _, refused = overlapping(lambda: close(round_), lambda: claim_query_seats(round_=round_, annotator=mara, at=AT))

    assert refused.code == "round_not_open"
    assert not Seat.objects.exclude(state=SeatState.OPEN).exists()


def test_a_round_that_closes_on_a_claim_takes_its_seats_back():
    round_ = make_round(queries=2, blocks=2)

    overlapping(lambda: claimed(round_, people_of(round_)[0], 3), lambda: close(round_))

    assert not Seat.objects.exclude(state=SeatState.OPEN).exists()


def test_a_second_thought_that_meets_a_closing_round_is_refused():
    round_ = make_round(queries=1, blocks=2)
    mara = people_of(round_)[0]
    seat = claimed(round_, mara)[0]
    first = give(seat, mara, 3)

    _, undone = overlapping(lambda: close(round_), lambda: give(seat, mara, 0))

    assert undone.code == "grade_not_possible"
    assert list(Judgement.objects.all()) == [first]


def test_a_round_that_closes_on_a_second_thought_keeps_it():
    round_ = make_round(queries=1, blocks=2)
    mara = people_of(round_)[0]
    seat = claimed(round_, mara)[0]
    give(seat, mara, 3)

    again, closed = overlapping(lambda: give(seat, mara, 0), lambda: close(round_))

    assert (again.grade, closed.state) == (0, RoundState.CLOSED)
    assert list(live_judgements(round_)) == [again]
    assert counted(round_) == 1


def test_a_second_thought_on_a_pair_that_is_being_decided_is_refused():
    round_ = make_split_round()
    mara = people_of(round_)[0]
    seat = Seat.objects.get(annotator=mara)

    decision, undone = overlapping(lambda: decide(round_, *entries_of(round_)), lambda: give(seat, mara, 0))

    assert (decision.grade, undone.code) == (2, "grade_not_possible")
    assert Judgement.objects.filter(supersedes__isnull=False).count() == 0


def test_a_decision_that_meets_a_second_thought_reads_it():
    round_ = make_split_round()
    mara = people_of(round_)[0]
    seat = Seat.objects.get(annotator=mara)

    _, decision = overlapping(lambda: give(seat, mara, 2), lambda: decide(round_, *entries_of(round_)))

    assert decision.code == "not_adjudicable"
    assert not Adjudication.objects.exists()


def test_a_decision_reads_the_round_that_closes_meanwhile():
    """While the round is open the third judge is awaited; once it is closed the two who answered are all there are."""
    round_ = make_round(queries=1, blocks=1, annotators=3, overlap=1.0, judges=3)
    for grade, person in enumerate(people_of(round_)[:2], 1):
        judge_all(round_, person, lambda seat, g=grade: g)

    _, decision = overlapping(
        lambda: close(round_), lambda: decide(Round.objects.get(pk=round_.pk), *entries_of(round_))
    )

    assert decision.grade == 2


def test_a_round_closes_after_the_decision_it_meets():
    round_ = make_split_round()

    decision, closed = overlapping(lambda: decide(round_, *entries_of(round_)), lambda: close(round_))

    assert (decision.grade, closed.state) == (2, RoundState.CLOSED)
    assert list(Event.objects.order_by("pk").values_list("action", flat=True))[-2:] == [
        "pair.adjudicated",
        "round.closed",
    ]


def test_of_two_judges_who_take_each_others_grade_the_first_settles_the_pair():
    round_ = make_split_round(reconcile=True)
    mara, jun = people_of(round_)
    entry = entries_of(round_)[0]

    def take(judge, grade):
        common = {"round_": round_, "entry": entry, "judge": judge, "at": AT}
        return answer_difference(**common, grade=grade, reason="Right.", seen=0, idempotency_key=f"{judge.pk}")

    for judge in (mara, jun):
        look_at_difference(round_=round_, entry=entry, judge=judge, at=AT)
    first, second = overlapping(lambda: take(mara, 2), lambda: take(jun, 1))

    assert (first.is_last, second.code) == (True, "second_grade_not_possible")
    assert "It is settled at 2." in second.sentence
    assert Adjudication.objects.get().grade == 2


def test_a_first_grade_is_not_changed_while_another_judge_answers_the_difference():
    round_ = make_split_round(reconcile=True)
    mara, jun = people_of(round_)
    entry, seat = entries_of(round_)[0], Seat.objects.get(annotator=jun)
    look_at_difference(round_=round_, entry=entry, judge=mara, at=AT)

    answer, changed = overlapping(
        lambda: answer_difference(round_=round_, entry=entry, judge=mara, grade=1, seen=0, idempotency_key="k", at=AT),
        lambda: give(seat, jun, 1),
    )

    assert (answer.is_last, changed.code) == (False, "grade_not_possible")


def test_two_leads_decide_one_after_the_other():
    round_ = make_split_round()

    first, second = overlapping(
        lambda: decide(round_, *entries_of(round_), 1), lambda: decide(round_, *entries_of(round_), 2)
    )

    assert second.supersedes == first


def make_half_split_round():
    """Two pairs for two of three judges: one was judged 1 and 2, the other waits for its second judge."""
    round_ = make_round(queries=1, blocks=2, annotators=3, overlap=1.0, judges=2)
    one, two, three = people_of(round_)
    judge_all(round_, one, lambda seat: 1)
    give(claimed(round_, two)[0], two, 2)
    return round_, three, mark_of(trivial(round_, lead_of(round_.project), ResolutionRule.LOWER))


def test_settling_that_meets_a_grade_reads_it():
    round_, three, seen = make_half_split_round()
    seat = claimed(round_, three)[0]

    graded, settled = overlapping(lambda: give(seat, three, 2), lambda: settle(round_, seen))

    assert (graded.grade, settled.code) == (2, "pairs_changed")
    assert not Adjudication.objects.exists()


def test_of_two_last_grades_at_once_the_later_one_finds_the_pair_undecided():
    round_ = make_round(queries=1, blocks=1, overlap=1.0)
    one, two = people_of(round_)
    first, second = claimed(round_, one)[0], claimed(round_, two)[0]

    overlapping(lambda: give(first, one, 0), lambda: give(second, two, 3))

    assert undecided_as_kept(round_) == undecided_by_hand(round_) == {first.entry_id}


def test_settling_that_meets_a_closing_round_reads_it_closed():
    """Of the third pair two of three judges have answered: it waits for a lead as soon as the round is closed."""
    round_ = make_round(queries=1, blocks=2, annotators=3, overlap=1.0, judges=3)
    one, two, three = people_of(round_)
    judge_all(round_, one, lambda seat: 1)
    judge_all(round_, two, lambda seat: 2)
    give(claimed(round_, three)[0], three, 0)
    seen = mark_of(trivial(round_, lead_of(round_.project), ResolutionRule.NEAR_MEDIAN))

    _, settled = overlapping(lambda: close(round_), lambda: settle(round_, seen, ResolutionRule.LOWER))

    assert settled.code == "pairs_changed"
    assert not Adjudication.objects.exists()


def test_a_round_closes_after_the_settling_it_meets():
    round_ = make_split_round()
    seen = mark_of(trivial(round_, lead_of(round_.project), ResolutionRule.LOWER))

    settled, closed = overlapping(lambda: settle(round_, seen), lambda: close(round_))

    assert ([each.grade for each in settled], closed.state) == ([1], RoundState.CLOSED)
    assert adjudicable(closed, lead_of(round_.project)) == []


def test_of_settling_and_a_decision_on_the_same_pair_the_later_one_is_refused():
    round_ = make_split_round()
    seen = mark_of(trivial(round_, lead_of(round_.project), ResolutionRule.LOWER))

    _, settled = overlapping(lambda: decide(round_, *entries_of(round_)), lambda: settle(round_, seen))

    assert settled.code == "nothing_to_settle"
    assert Adjudication.objects.count() == 1


def test_a_grade_of_somebody_who_is_just_removed_is_rejected():
    project = make_project()
    mara, sef = (make_member(project, Role.ANNOTATOR) for _ in range(2))
    round_ = make_round(project, queries=1, blocks=2, annotators=[mara, sef])
    seat = claimed(round_, mara)[0]

    _, grade = overlapping(
        lambda: set_roles(project=project, user=mara, roles=[], actor=lead_of(project), at=AT),
        lambda: give(seat, mara),
    )

    assert isinstance(grade, Refusal)
    assert grade.code == "no_longer_annotator"
    assert not Judgement.objects.exists()


def test_somebody_is_removed_after_the_grade_they_are_giving():
    project = make_project()
    mara, sef = (make_member(project, Role.ANNOTATOR) for _ in range(2))
    round_ = make_round(project, queries=1, blocks=2, annotators=[mara, sef])
    seat = claimed(round_, mara)[0]

    grade, roles = overlapping(
        lambda: give(seat, mara),
        lambda: set_roles(project=project, user=mara, roles=[], actor=lead_of(project), at=AT),
    )

    assert (grade.grade, roles) == (2, frozenset())


def test_three_votes_at_the_same_time_are_two_and_a_refusal():
    round_ = make_round(queries=1, blocks=2, annotators=3, overlap=0.0)
    first, second, third = people_of(round_)
    for person in (first, second, third):
        judge_all(round_, person, lambda seat: 0)
    query = round_.pool.pool_queries.get().query_id

    def vote(person):
        return lambda: vote_on_unanswerable(snapshot=round_.pool.snapshot, query_id=query, person=person, at=later(1))

    vote(first)()
    outcomes = overlapping(vote(second), vote(third))

    assert isinstance(outcomes[0], UnanswerableVote)
    assert isinstance(outcomes[1], Refusal)
    assert sorted(UnanswerableVote.objects.values_list("number", flat=True)) == [1, 2]


def test_the_same_person_votes_once_however_often_they_press():
    round_ = make_round(queries=1, blocks=2, annotators=1, overlap=0.0)
    (person,) = people_of(round_)
    judge_all(round_, person, lambda seat: 0)
    query = round_.pool.pool_queries.get().query_id

    def vote():
        return vote_on_unanswerable(snapshot=round_.pool.snapshot, query_id=query, person=person, at=later(1))

    one, other = overlapping(vote, vote)

    assert one == other
    assert UnanswerableVote.objects.count() == 1
