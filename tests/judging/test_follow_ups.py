"""One more judge where a query's agreement is low: by the rule, up to the most, and never twice."""

import pytest

from apps.accounts.models import Membership
from apps.judging.actions.seats import claim_seats
from apps.judging.models import Seat
from tests.factories import AT
from tests.judging.factories import decide, give, judge_all, make_round, people_of
from tests.races import each_at_once

pytestmark = pytest.mark.django_db


def low_round(**plan):
    """One query of four pairs for two people of four each, who are about to differ on everything."""
    return make_round(**{"queries": 1, "blocks": 4, "annotators": 4, "overlap": 1.0, "extra_bar": 0.5, **plan})


def differ(round_):
    """The first two people grade every pair, as far apart as can be."""
    for person, low in zip(people_of(round_)[:2], (0, 3), strict=True):
        judge_all(round_, person, lambda seat, low=low: abs(low - seat.entry_id % 2))


def judges_of(round_):
    rows = Seat.objects.filter(round=round_, pass_number=1).order_by("entry", "number")
    found: dict[int, list[int]] = {}
    for entry, number in rows.values_list("entry", "number"):
        found.setdefault(entry, []).append(number)
    return list(found.values())


def test_low_agreement_adds_a_judge_to_each_repeated_pair_once_all_have_answered():
    round_ = low_round(most_judges=3)
    one, two = people_of(round_)[:2]
    judge_all(round_, one, lambda seat: 0)
    assert judges_of(round_) == [[1, 2]] * 4

    judge_all(round_, two, lambda seat: 3 - seat.entry_id % 2)

    assert judges_of(round_) == [[1, 2, 3]] * 4


def test_it_stops_at_the_most_and_at_the_last_person():
    round_ = low_round(most_judges=9)
    differ(round_)
    judge_all(round_, people_of(round_)[2], lambda seat: seat.entry_id % 4)
    judge_all(round_, people_of(round_)[3], lambda seat: 3 - seat.entry_id % 4)

    assert judges_of(round_) == [[1, 2, 3, 4]] * 4


def test_good_agreement_adds_nobody():
    round_ = low_round()
    for person in people_of(round_)[:2]:
        judge_all(round_, person, lambda seat: seat.entry_id % 3)

    assert judges_of(round_) == [[1, 2]] * 4


def test_a_pair_for_one_person_stays_for_one():
    round_ = low_round(overlap=0.5, blocks=6)
    differ(round_)

    assert sorted(len(numbers) for numbers in judges_of(round_)) == [1, 1, 1, 3, 3, 3]


def test_nobody_is_added_when_nobody_is_left_or_a_lead_has_decided():
    round_ = low_round()
    for person in people_of(round_)[2:]:
        Membership.objects.filter(user=person).update(ended_at=AT)
    differ(round_)
    assert judges_of(round_) == [[1, 2]] * 4

    settled = low_round(blocks=2)
    one, two = people_of(settled)[:2]
    judge_all(settled, one, lambda seat: 0)
    first = claim_seats(round_=settled, annotator=two, n=1, at=AT)[0]
    give(first, two, 3)
    decide(settled, first.entry, grade=1)
    judge_all(settled, two, lambda seat: 2)

    assert sorted(len(numbers) for numbers in judges_of(settled)) == [2, 3]


@pytest.mark.parametrize("_", range(3))
@pytest.mark.django_db(transaction=True)
def test_the_last_two_grades_of_a_query_at_once_add_one_judge_each(_):
    round_ = low_round(blocks=2)
    one, two = people_of(round_)[:2]
    for person, grade in ((one, 0), (two, 3)):
        give(claim_seats(round_=round_, annotator=person, n=1, at=AT)[0], person, grade)
    last = {person: claim_seats(round_=round_, annotator=person, n=1, at=AT)[0] for person in (one, two)}

    each_at_once(lambda person: give(last[person], person, 0 if person == one else 2), [one, two])

    assert judges_of(round_) == [[1, 2, 3]] * 2


@pytest.mark.parametrize("_", range(3))
@pytest.mark.django_db(transaction=True)
def test_the_last_two_grades_of_a_pilot_at_once_open_the_rest_once(_):
    round_ = make_round(queries=2, blocks=2, annotators=2, overlap=0.0, pilot=1, pilot_bar=0.5)
    one, two = people_of(round_)
    held = {person: claim_seats(round_=round_, annotator=person, n=2, at=AT) for person in (one, two)}
    for person in (one, two):
        give(held[person][0], person, held[person][0].entry_id % 2)

    each_at_once(lambda person: give(held[person][1], person, held[person][1].entry_id % 2), [one, two])

    assert round_.pilot_decision.alpha == pytest.approx(1.0)
