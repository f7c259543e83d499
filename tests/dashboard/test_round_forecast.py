"""The line below how far a round is."""

from datetime import date, timedelta

import pytest

from apps.accounts.actions.projects import set_roles
from apps.common.database.batched_reads import answer_to
from apps.common.text.wording import percent
from apps.dashboard.pages.progress import ending, progress_of, seats_asked
from apps.judging.actions.rounds import close_round
from apps.judging.actions.seats import claim_seats
from apps.judging.core.eta import Lately
from tests.factories import AT, lead_of
from tests.judging.factories import give, judge_all, later, make_round, people_of

SUNDAY = date(2026, 11, 22)


@pytest.mark.parametrize(
    ("to_go", "words"),
    [
        (10, "done tomorrow at this pace"),
        (40, "done on Thursday at this pace"),
        (60, "done on Saturday at this pace"),
        (70, "done on 29 November at this pace"),
        (400, "done on 1 January 2027 at this pace"),
        (100_000, "no end date yet: at this pace it takes more than ten years"),
        (0, "all possible judgements are done"),
    ],
)
def test_the_day_is_named_as_people_name_it(to_go, words):
    assert ending(to_go, Lately(7, 70, 0, 0), SUNDAY) == words


def test_without_judgements_no_day_is_named():
    assert (
        ending(9, Lately(7, 0, 0, 0), SUNDAY) == "no end date yet: nothing was judged in this round in the last 7 days"
    )


def judging_of(round_, at):
    return progress_of(round_, *answer_to(round_, seats_asked(round_, at)), at)


def line(round_, at):
    return judging_of(round_, at).forecast


@pytest.mark.django_db
def test_an_open_round_shows_who_judges_and_what_is_leased():
    round_ = make_round(queries=2, blocks=4, annotators=2, overlap=0.5)
    first, second = people_of(round_)
    judge_all(round_, first)
    claim_seats(round_=round_, annotator=second, n=2, at=AT)

    now, tomorrow = line(round_, later(1)), line(round_, AT + timedelta(days=1))

    assert now.startswith(f"{percent(0.5, 0)} of the pairs are for two people each, no end date yet: ")
    assert "judged by two" not in now, "the plan of a round says nothing about what was judged"
    assert now.endswith("1 person judged today; 2 judgements are open, none has expired.")
    assert tomorrow.endswith("Nobody judged today; 2 judgements are open, 2 of them expired: others get them next.")


@pytest.mark.django_db
def test_seats_that_nobody_can_fill_do_not_count_as_work():
    round_ = make_round(queries=1, blocks=4, annotators=2, overlap=1.0)
    first, second = people_of(round_)
    judge_all(round_, first)
    lead = lead_of(round_.project)
    set_roles(project=round_.project, user=second, roles=[], actor=lead, at=AT)

    found = judging_of(round_, later(1))

    assert (found.done, found.planned) == (4, 8)
    assert "all possible judgements are done. 4 judgements that nobody can give." in found.forecast


@pytest.mark.django_db
def test_a_closed_round_says_when_it_was_closed():
    round_ = make_round(queries=1, blocks=2, annotators=1, overlap=0.0)
    judge_all(round_, people_of(round_)[0])
    close_round(round_id=round_.pk, actor=lead_of(round_.project), at=AT)
    round_.refresh_from_db()

    assert line(round_, AT).startswith("One person a pair, closed on ")


@pytest.mark.django_db
@pytest.mark.parametrize("blocks", [2, 6])
def test_few_and_many_pairs_take_the_same_queries(blocks, django_assert_num_queries):
    round_ = make_round(queries=2, blocks=blocks, annotators=2, overlap=0.5)
    seats = claim_seats(round_=round_, annotator=people_of(round_)[0], n=blocks, at=AT)
    for seat in seats:
        give(seat, people_of(round_)[0])

    with django_assert_num_queries(3):
        line(round_, later(1))
