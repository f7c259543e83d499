"""All pairs of a query at once: the same seats under the same limits."""

import pytest

from apps.judging.actions.seats import MOST_OF_QUERY, claim_query_seats, claim_seats
from apps.judging.models import Seat
from tests.factories import AT
from tests.judging.factories import give, later, make_round, people_of

pytestmark = pytest.mark.django_db


def claim(round_, person, at=AT):
    return claim_query_seats(round_=round_, annotator=person, at=at)


def test_every_pair_of_the_next_query_is_leased_and_none_of_the_one_after():
    round_ = make_round(queries=3, blocks=12, annotators=1, overlap=0.0)
    (mara,) = people_of(round_)

    seats = claim(round_, mara)

    assert len(seats) == 12
    assert len({seat.query_id for seat in seats}) == 1
    assert Seat.objects.filter(round=round_, state="leased").count() == 12


@pytest.mark.slow
def test_the_order_is_the_one_of_pair_by_pair():
    round_ = make_round(queries=2, blocks=8, annotators=1, overlap=0.0)
    (mara,) = people_of(round_)

    one_by_one = [seat.pk for seat in claim_seats(round_=round_, annotator=mara, n=8, at=AT)]

    assert [seat.pk for seat in claim(round_, mara)] == one_by_one


def test_the_next_query_comes_when_a_few_pairs_are_left():
    round_ = make_round(queries=2, blocks=8, annotators=1, overlap=0.0)
    (mara,) = people_of(round_)
    for seat in claim(round_, mara)[:3]:
        give(seat, mara)
    assert len(leased(claim(round_, mara))) == 5

    give(leased(claim(round_, mara))[0], mara)

    assert len(leased(claim(round_, mara))) == 4 + 8


def leased(seats):
    return [seat for seat in seats if seat.state == "leased"]


def test_what_was_graded_of_the_query_stays_at_its_place():
    round_ = make_round(queries=1, blocks=8, annotators=1, overlap=0.0)
    (mara,) = people_of(round_)
    seats = claim(round_, mara)
    give(seats[2], mara)

    again = claim(round_, mara)

    assert [seat.pk for seat in again] == [seat.pk for seat in seats]
    assert again[2].state == "done"


def test_somebody_elses_pairs_are_never_among_them():
    round_ = make_round(queries=1, blocks=6, annotators=2)
    mara, sef = people_of(round_)
    theirs = claim_seats(round_=round_, annotator=sef, n=2, at=AT)
    give(theirs[0], sef)

    mine = claim(round_, mara)

    assert not {seat.pk for seat in mine} & {seat.pk for seat in theirs}
    assert all(seat.annotator_id == mara.pk for seat in mine)


def test_a_very_long_query_comes_in_parts():
    round_ = make_round(queries=1, blocks=MOST_OF_QUERY + 7, annotators=1, overlap=0.0)
    (mara,) = people_of(round_)

    assert len(claim(round_, mara)) == MOST_OF_QUERY


def test_requesting_again_extends_the_leases_and_takes_no_more():
    round_ = make_round(queries=2, blocks=9, annotators=1, overlap=0.0)
    (mara,) = people_of(round_)
    claim(round_, mara)

    seats = claim(round_, mara, at=later(20))

    assert len(seats) == 9
    assert {seat.lease_expires_at for seat in seats} == {later(20 + round_.lease_minutes)}


def test_when_nothing_is_left_there_is_nothing():
    round_ = make_round(queries=1, blocks=2, annotators=1, overlap=0.0)
    (mara,) = people_of(round_)
    for seat in claim(round_, mara):
        give(seat, mara)

    assert claim(round_, mara) == []
