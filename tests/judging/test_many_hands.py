"""Thirty-two people on one pile, with real connections: no error, no pair over or under its plan."""

import random
import threading
from collections import Counter

import pytest

from apps.audit.models import Event
from apps.common.errors import Refusal
from apps.judging.actions.rounds import close_round
from apps.judging.actions.seats import claim_seats
from apps.judging.enums import SeatState
from apps.judging.models import Judgement, Seat
from apps.judging.selectors.pairs import live_judgements
from tests.factories import AT, lead_of
from tests.judging.factories import give, make_round, people_of
from tests.races import each_at_once

pytestmark = pytest.mark.django_db(transaction=True)

HANDS = 32


def check_exact(round_, planned):
    """Every seat filled once, every pair with exactly its planned judges, nobody twice on a pair."""
    seats = list(Seat.objects.filter(round=round_).values_list("entry", "annotator", "state"))
    assert {state for *_, state in seats} == {SeatState.DONE}
    given = list(live_judgements(round_).values_list("entry", "annotator"))
    assert Counter(entry for entry, _ in given) == Counter(planned)
    assert len(set(given)) == len(given)
    assert sorted(given) == sorted((entry, annotator) for entry, annotator, _ in seats)


def test_thirty_two_people_fill_every_seat_exactly_once():
    round_ = make_round(queries=4, blocks=12, annotators=HANDS, overlap=0.5, judges=5)
    planned = list(Seat.objects.filter(round=round_).values_list("entry", flat=True))

    def work(person):
        while seats := claim_seats(round_=round_, annotator=person, n=3, at=AT):
            for seat in seats:
                give(seat, person, random.randrange(4), key=f"{person.pk}-{seat.pk}")

    each_at_once(work, people_of(round_))
    check_exact(round_, planned)


def test_thirty_two_people_want_the_last_seats_of_one_pair():
    round_ = make_round(queries=1, blocks=1, annotators=HANDS, overlap=1.0, judges=3)
    got = []

    def work(person):
        got.extend((seat.pk, person.pk) for seat in claim_seats(round_=round_, annotator=person, n=5, at=AT))

    each_at_once(work, people_of(round_))
    assert len(got) == len({seat for seat, _ in got}) == len({person for _, person in got}) == 3


def test_one_person_in_many_tabs_never_gets_two_seats_of_a_pair():
    round_ = make_round(queries=2, blocks=4, annotators=2, overlap=1.0)
    mara = people_of(round_)[0]

    each_at_once(lambda _: claim_seats(round_=round_, annotator=mara, n=8, at=AT), range(8))

    held = Seat.objects.filter(round=round_, annotator=mara).values_list("entry", flat=True)
    assert len(held) == len(set(held)) == 8


def test_one_grade_sent_many_times_at_once_is_one_judgement():
    round_ = make_round(queries=1, blocks=2, annotators=1, overlap=0.0)
    mara = people_of(round_)[0]
    seat = claim_seats(round_=round_, annotator=mara, n=1, at=AT)[0]

    given = each_at_once(lambda _: give(seat, mara, 3, key="k"), range(HANDS))

    assert len(set(given)) == Judgement.objects.count() == 1


def test_everybody_sends_a_late_grade_for_one_pair():
    round_ = make_round(queries=1, blocks=1, annotators=HANDS, overlap=1.0, judges=4)
    seat = Seat.objects.filter(round=round_).first()
    taken, refused = [], []

    def work(person):
        try:
            taken.append(give(seat, person, 1, key="late").pk)
        except Refusal as refusal:
            refused.append(refusal.code)

    each_at_once(work, people_of(round_))
    assert (len(taken), set(refused)) == (4, {"seat_lapsed"})
    check_exact(round_, [seat.entry_id] * 4)


@pytest.mark.slow
def test_what_the_audit_says_was_given_is_what_is_stored_when_a_lead_closes_under_grading_clients():
    """Twenty-four clients grade as fast as they can; once a hundred grades are in, a lead closes the round.

    Each gives fifteen at most, so that no pair runs short however late the lead is let in, and then tries once more.
    """
    clients = 24
    round_ = make_round(queries=4, blocks=30, annotators=clients, overlap=1.0, judges=4)
    lead, enough, closed, refusals = lead_of(round_.project), threading.Semaphore(0), threading.Event(), []

    def close():
        for _ in range(100):
            assert enough.acquire(timeout=60)
        close_round(round_id=round_.pk, actor=lead, at=AT)
        closed.set()

    def grade(person):
        for _ in range(5):
            for seat in claim_seats(round_=round_, annotator=person, n=3, at=AT):
                give(seat, person, seat.pk % 4, key=f"{person.pk}-{seat.pk}")
                enough.release()
        assert closed.wait(60)
        claim_seats(round_=round_, annotator=person, n=3, at=AT)

    def work(person):
        try:
            close() if person == lead else grade(person)
        except Refusal as refusal:
            refusals.append(refusal.code)

    each_at_once(work, [lead, *people_of(round_)])

    told = Event.objects.get(action="round.closed").after
    assert told["given"] == Judgement.objects.count() == live_judgements(round_).count()
    assert told["given"] == Seat.objects.filter(round=round_, state=SeatState.DONE).count()
    assert 100 <= told["given"] < told["planned"] == 480
    assert not Seat.objects.filter(round=round_, state=SeatState.LEASED).exists()
    assert len(refusals) == clients
    assert set(refusals) <= {"grade_not_possible", "round_not_open"}
