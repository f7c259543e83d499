"""Leasing seats: K-of-N is exact, one person never has two seats of a pair, orders are blind."""

from datetime import timedelta

import pytest

from apps.accounts.enums import Role
from apps.common.errors import Refusal
from apps.judging.actions.rounds import close_round
from apps.judging.actions.seats import claim_query_seats, claim_seats, release_seats
from apps.judging.enums import SeatState
from apps.judging.models import Seat
from apps.judging.selectors.progress import known_rounds
from apps.queries.actions.queries import retire_query
from tests.factories import AT, lead_of, make_member
from tests.judging.factories import give, judge_all, later, make_round, own_progress, people_of

pytestmark = pytest.mark.django_db


def claim(round_, person, n=20, at=AT):
    return claim_seats(round_=round_, annotator=person, n=n, at=at)


def test_a_person_gets_the_requested_number_of_pairs_and_keeps_them():
    round_ = make_round(queries=2, blocks=4)
    mara = people_of(round_)[0]

    first = claim(round_, mara, n=3)
    again = claim(round_, mara, n=3)

    assert [seat.pk for seat in first] == [seat.pk for seat in again]
    assert len(first) == 3


def test_a_person_never_gets_two_seats_of_one_pair():
    round_ = make_round(queries=2, blocks=4, overlap=1.0)
    mara = people_of(round_)[0]

    seats = claim(round_, mara)

    assert len({seat.entry_id for seat in seats}) == len(seats) == 8


def test_two_people_never_get_the_same_seat():
    round_ = make_round(queries=2, blocks=4, overlap=0.5)
    mara, sef = people_of(round_)

    one, two = claim(round_, mara), claim(round_, sef)

    assert not {seat.pk for seat in one} & {seat.pk for seat in two}
    assert len(one) + len(two) == 12


def test_queries_come_one_after_another_and_pairs_in_an_order_of_ones_own():
    round_ = make_round(queries=3, blocks=5, overlap=1.0)
    mara, sef = people_of(round_)

    orders = {}
    for person in (mara, sef):
        seats = claim(round_, person, n=15)
        queries = [seat.query_id for seat in seats]
        assert [q for q, before in zip(queries, [None, *queries], strict=False) if q != before] == list(
            dict.fromkeys(queries)
        )
        orders[person] = {q: [s.entry_id for s in seats if s.query_id == q] for q in dict.fromkeys(queries)}

    assert any(orders[mara][query] != orders[sef][query] for query in orders[mara])
    assert any(orders[mara][query] != sorted(orders[mara][query]) for query in orders[mara])


def test_a_lapsed_lease_goes_to_somebody_else():
    round_ = make_round(queries=1, blocks=4, overlap=0.0)
    mara, sef = people_of(round_)
    held = claim(round_, mara)
    judge_all(round_, sef)

    assert claim(round_, sef, at=later(29)) == []
    assert {seat.pk for seat in claim(round_, sef, at=later(31))} == {seat.pk for seat in held}
    assert claim(round_, mara, at=later(31)) == []


def test_seats_of_others_follow_once_nothing_of_ones_own_share_is_left_or_leased():
    round_ = make_round(queries=1, blocks=4, overlap=0.0)
    mara, _ = people_of(round_)

    own = claim(round_, mara)
    give(own[0], mara)
    assert [seat.pk for seat in claim(round_, mara)] == [own[1].pk]
    give(own[1], mara)

    assert {seat.meant_for_id for seat in own} == {mara.pk}
    assert [seat.meant_for_id == mara.pk for seat in claim(round_, mara)] == [False, False]


def test_requesting_again_extends_the_lease():
    round_ = make_round(queries=1, blocks=4, overlap=0.0)
    mara, sef = people_of(round_)
    claim(round_, mara)
    claim(round_, mara, at=later(20))
    judge_all(round_, sef)

    assert claim(round_, sef, at=later(40)) == []


def test_leases_are_renewed_when_they_are_a_minute_old():
    round_ = make_round()
    mara = people_of(round_)[0]
    (seat,) = claim(round_, mara, n=1)
    ends = []
    for seconds in (30, 61):
        claim(round_, mara, n=1, at=AT + timedelta(seconds=seconds))
        seat.refresh_from_db()
        ends.append(seat.lease_expires_at - AT)

    assert ends == [timedelta(minutes=30), timedelta(minutes=30, seconds=61)]


def test_released_seats_are_open_again():
    round_ = make_round(queries=1, blocks=4, overlap=0.0)
    mara, sef = people_of(round_)
    claim(round_, mara)

    assert release_seats(round_=round_, annotator=mara) == 2
    assert len(claim(round_, sef)) == 2


def test_a_person_outside_the_round_gets_nothing():
    round_ = make_round()
    stranger = make_member(round_.project, Role.ANNOTATOR)

    with pytest.raises(Refusal, match="not an annotator"):
        claim(round_, stranger)


@pytest.mark.parametrize("claims", [lambda **who: claim_seats(n=20, **who), claim_query_seats])
def test_a_closed_round_assigns_nothing(claims):
    round_ = make_round()
    close_round(round_id=round_.pk, actor=lead_of(round_.project), at=AT)

    with pytest.raises(Refusal, match="closed"):
        claims(round_=round_, annotator=people_of(round_)[0], at=AT)


def test_every_seat_is_filled_and_none_twice():
    round_ = make_round(queries=3, blocks=4, annotators=3, overlap=0.5, judges=3)
    people = people_of(round_)

    for person in people:
        judge_all(round_, person)

    seats = Seat.objects.filter(round=round_)
    assert seats.count() == 12 + 6 * 2
    assert set(seats.values_list("state", flat=True)) == {SeatState.DONE}
    assert round_.judgements.count() == seats.count()


def test_a_graded_pair_leaves_the_pile():
    round_ = make_round(queries=1, blocks=4, overlap=0.0)
    mara = people_of(round_)[0]
    seat, other = claim(round_, mara)

    give(seat, mara)

    assert [s.pk for s in claim(round_, mara)] == [other.pk]


def test_the_statements_of_a_claim_do_not_grow_with_the_pool(django_assert_max_num_queries):
    small, large = make_round(queries=2, blocks=3), make_round(queries=20, blocks=6)

    for round_ in (small, large):
        mara = people_of(round_)[0]
        with django_assert_max_num_queries(14):
            claim(round_, mara, n=3)


@pytest.mark.parametrize("again", [0.0, 0.5])
def test_nobody_is_given_pairs_of_a_retired_query_and_leases_of_them_return(again):
    """Also what is reserved for a person, all pairs of a query together, and what people are told is left."""
    round_ = make_round(queries=3, blocks=4, annotators=1, overlap=0.0, again=again)
    (person,) = people_of(round_)
    claim = {"round_": round_, "annotator": person, "at": AT}
    held = claim_seats(n=3, **claim)
    give(held.pop(), person)
    first = held[0].query
    retire_query(query_id=first.pk, reason="Out of scope.", actor=lead_of(round_.project), at=AT)

    again = claim_seats(n=20, **claim)
    assert again
    assert first not in {seat.query for seat in again}
    assert set(Seat.objects.filter(query=first).exclude(state=SeatState.DONE).values_list("state", flat=True)) == {
        SeatState.OPEN
    }
    release_seats(round_=round_, annotator=person)
    assert first not in {seat.query for seat in claim_query_seats(**claim)}
    given = judge_all(round_, person)
    assert first.pk not in {judgement.entry.query_id for judgement in given}
    assert claim_seats(n=1, **claim) == []
    progress = own_progress(round_, person)
    assert (progress.to_go, progress.beyond) == (0, 0)
    assert known_rounds(round_.project, person)[0].is_full
