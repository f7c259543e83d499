"""What the judging screen is made of: pairs that lie ready, earlier grades, all of a query, and a person's own keys."""

import re

import pytest
from django.db import connection
from django.urls import reverse

from apps.accounts.actions.projects import set_roles
from apps.accounts.enums import Role
from apps.judging.actions.judgements import choose_keys
from apps.judging.actions.seats import claim_seats
from apps.judging.enums import SeatState
from apps.judging.models import Seat
from apps.judging.selectors.pairs import live_judgements
from apps.judging.selectors.rounds import own_keys
from tests.factories import AT, lead_of
from tests.judging.factories import give, judge_all, later, make_round, people_of

pytestmark = pytest.mark.django_db

USUAL = {
    "grade_0": "0", "grade_1": "1", "grade_2": "2", "grade_3": "3", "cant_judge": "x", "unclear_query": "q",
    "unreadable": "w", "needs_expert": "e", "missing_context": "r", "undo": "u", "note": "n", "evidence": "m",
    "select": "s", "whole": "t", "guideline": "g", "lit": "l", "view": "v", "next": "j", "previous": "k",
}  # fmt: skip


@pytest.fixture
def round_():
    return make_round(queries=2, blocks=8, annotators=1, overlap=0.0)


@pytest.fixture
def mara(client, round_):
    (person,) = people_of(round_)
    client.force_login(person)
    return person


def test_at_the_end_of_the_share_one_chooses_whether_to_go_on(client):
    round_ = make_round(queries=1, blocks=10, overlap=0.0)
    mara = people_of(round_)[0]
    client.force_login(mara)
    for seat in claim_seats(round_=round_, annotator=mara, n=5, at=AT):
        give(seat, mara)

    stop = page(client, "judge", round_).content.decode()
    assert "Your share of Round 1 is done" in stop
    assert "5 more pairs are open to you" in stop
    assert not Seat.objects.filter(round=round_, state=SeatState.LEASED).exists()

    assert "Where you differ" not in stop
    last = re.search(r"judge/\?seat=(\d+)", stop).group(1)
    assert "data-judging" in page(client, "judge", round_, seat=last).content.decode()
    assert "data-judging" in page(client, "judge", round_, more="1").content.decode()
    assert "data-judging" in page(client, "judge", round_).content.decode()


def test_the_end_of_the_share_says_that_differences_follow_where_judges_settle_them(client):
    round_ = make_round(queries=1, blocks=10, overlap=0.4, reconcile=True)
    mara, jun = people_of(round_)
    client.force_login(mara)
    for seat in round_.seats.filter(meant_for=mara):
        give(seat, mara, 3)

    assert "Where you differ, the two of you settle it" in page(client, "judge", round_).content.decode()
    for seat in round_.seats.filter(meant_for=jun):
        give(seat, jun, 0)
    stop = page(client, "judge", round_).content.decode()
    assert "On 4 pairs you and another judge differ" in stop
    assert "Settle 4 differences" in stop


def page(client, name, round_, **query):
    return client.get(reverse(f"judging:{name}", args=[round_.project.slug, round_.pk]), query)


def keys_page(round_):
    return reverse("judging:keys", args=[round_.project.slug])


def seats_in(answer) -> list[int]:
    return [int(seat) for seat in re.findall(r'<template data-seat="(\d+)"', answer.content.decode())]


def test_pairs_that_the_page_has_stay_leased_and_are_not_sent_again(client, round_, mara):
    first = seats_in(page(client, "pairs", round_, n=5))
    more = seats_in(page(client, "pairs", round_, n=7, has=",".join(map(str, first))))

    assert len(first) == 5
    assert len(more) == 2
    assert not set(first) & set(more)
    assert round_.seats.filter(state="leased").count() == 7


def test_odd_requests_for_pairs_are_answered_like_plain_ones(client, round_, mara):
    plain = seats_in(page(client, "pairs", round_))

    assert seats_in(page(client, "pairs", round_, n="-3", has="x,,1;drop", view="sideways")) == plain


def test_all_pairs_of_a_query_are_a_choice_that_stays(client, round_, mara):
    assert len(seats_in(page(client, "judge", round_, view="query"))) == 7
    assert 'data-view="query"' in page(client, "judge", round_).content.decode()

    page(client, "judge", round_, view="pair")
    assert 'data-view="pair"' in page(client, "judge", round_).content.decode()


def test_all_pairs_come_with_the_judgements_given(client, round_, mara):
    seats = claim_seats(round_=round_, annotator=mara, n=2, at=AT)
    give(seats[0], mara, 3, note="Names <it>.")
    give(seats[1], mara, None)

    text = page(client, "judge", round_, view="query").content.decode()

    assert text.count("data-given=") == 1 + 2
    assert 'data-given="3" data-reason="" data-note="Names &lt;it&gt;."' in text
    assert 'data-given="x" data-reason="unreadable"' in text


def test_the_query_view_of_a_finished_round_says_that_it_is_done(client, round_, mara):
    judge_all(round_, mara)

    assert "You are finished with" in page(client, "judge", round_, view="query").content.decode()


def test_the_query_view_costs_the_same_for_few_and_for_many_pairs(client, django_assert_num_queries):
    for blocks in (6, 12):
        round_ = make_round(queries=1, blocks=blocks, annotators=1, overlap=0.0)
        client.force_login(people_of(round_)[0])
        page(client, "pairs", round_, view="query")
        with django_assert_num_queries(16 + (connection.vendor == "postgresql")):
            assert len(seats_in(page(client, "pairs", round_, view="query"))) == blocks


def test_undo_returns_the_former_grade(client, round_, mara):
    seats = claim_seats(round_=round_, annotator=mara, n=8, at=AT)
    for minute, seat in enumerate(seats):
        give(seat, mara, 1, at=later(minute))
    give(seats[2], mara, 3, at=later(60))

    latest = seats_in(page(client, "earlier", round_))
    before = seats_in(page(client, "earlier", round_, seat=latest[-1]))

    expected = [seats[place].pk for place in (2, 7, 6, 5, 4, 3, 1, 0)]
    assert latest + before == expected
    assert seats_in(page(client, "earlier", round_, seat=before[-1])) == []


def test_undo_returns_nothing_of_others(client):
    round_ = make_round(overlap=1.0)
    mara, sef = people_of(round_)
    judge_all(round_, sef, lambda seat: 3)
    theirs = round_.seats.filter(annotator=sef).first()
    client.force_login(mara)

    assert seats_in(page(client, "earlier", round_)) == []
    assert seats_in(page(client, "earlier", round_, seat=theirs.pk)) == []


def test_the_plain_undo_link_walks_back_one_by_one(client, round_, mara):
    seats = claim_seats(round_=round_, annotator=mara, n=3, at=AT)
    for minute, seat in enumerate(seats):
        give(seat, mara, 1, at=later(minute))

    text = page(client, "judge", round_, seat=seats[2].pk).content.decode()
    assert f'href="?seat={seats[1].pk}" data-undo' in text
    text = page(client, "judge", round_, seat=seats[0].pk).content.decode()
    assert "this is your first grade" in text


def test_a_corrected_grade_without_javascript_keeps_the_evidence(client, round_, mara):
    seat = claim_seats(round_=round_, annotator=mara, n=1, at=AT)[0]
    give(seat, mara, 1, spans=[[0, 8]])
    shown = page(client, "judge", round_, seat=seat.pk).content.decode()
    assert 'name="spans" value="[[0, 8]]"' in shown

    data = {"seat": seat.pk, "key": "k", "grade": "3", "spans": "[[0, 8]]"}
    client.post(reverse("judging:grade", args=[round_.project.slug, round_.pk]), data)

    judgement = live_judgements(round_).get()
    assert (judgement.grade, judgement.spans) == (3, [[0, 8]])


def test_evidence_that_is_none_is_refused_in_words(client, round_, mara):
    seat = claim_seats(round_=round_, annotator=mara, n=1, at=AT)[0]
    address = reverse("judging:grade", args=[round_.project.slug, round_.pk])
    for spans, said in (
        ("[[0, 999999]]", "is outside the text"),
        ('{"a"', "Choose a grade"),
        ("7", "Evidence is"),
    ):
        data = {"seat": seat.pk, "key": "k", "grade": "3", "spans": spans}
        assert said in client.post(address, data, follow=True).content.decode()
    assert not live_judgements(round_).exists()


def test_the_screen_follows_own_keys(client, round_, mara):
    choose_keys(person=mara, keys={"undo": "z", "grade_2": "d"})

    text = page(client, "judge", round_).content.decode()

    assert 'aria-keyshortcuts="z"' in text
    assert 'value="2" aria-keyshortcuts="d"' in text
    assert "<b>2, Answers part</b>" in text
    assert 'aria-keyshortcuts="u"' not in text


def test_a_key_that_is_markup_stays_text(client, round_, mara):
    choose_keys(person=mara, keys={"undo": "<", "note": '"'})

    text = page(client, "judge", round_).content.decode()

    assert 'aria-keyshortcuts="&lt;"' in text
    assert 'aria-keyshortcuts="&quot;"' in text


def test_keys_are_saved_and_confirmed(client, round_, mara):
    answer = client.post(keys_page(round_), USUAL | {"undo": "Z"}, follow=True)

    assert "Your keys are saved." in answer.content.decode()
    assert own_keys(mara) == {"undo": "z"}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"undo": "x"}, "“x” is “Can’t judge” already."),
        ({"undo": "/"}, "Browsers open their search"),
        ({"undo": ""}, "Enter a key. The default is u."),
        ({"undo": "ab"}, "A key is one character"),
        ({"undo": "2", "grade_2": "d"}, "2 is the key of grade 2."),
    ],
)
def test_keys_that_do_not_go_together_are_refused_in_words(client, round_, mara, change, said):
    answer = client.post(keys_page(round_), USUAL | change)

    assert answer.status_code == 400
    assert said in answer.content.decode()
    assert own_keys(mara) == {}


def test_digits_are_freed_on_purpose(client, round_, mara):
    client.post(keys_page(round_), USUAL | {"undo": "2", "grade_2": "d", "digits_are_free": "on"})

    assert own_keys(mara) == {"undo": "2", "grade_2": "d"}
    assert "checked" in client.get(keys_page(round_)).content.decode()


def test_the_usual_keys_come_back_on_a_button(client, round_, mara):
    choose_keys(person=mara, keys={"undo": "z"})

    client.post(reverse("judging:keys-reset", args=[round_.project.slug]))

    assert own_keys(mara) == {}


def test_the_way_back_leads_leads_to_the_round_and_others_to_the_list(client, round_, mara):
    index = reverse("judging:index", args=[round_.project.slug])
    board = reverse("judging:round", args=[round_.project.slug, round_.pk])

    assert f'<b><a href="{index}">Rounds</a>, round 1</b>' in page(client, "judge", round_).text
    set_roles(
        project=round_.project, user=mara, roles=[Role.LEAD, Role.ANNOTATOR], actor=lead_of(round_.project), at=AT
    )
    assert f'<b><a href="{board}">Round 1</a></b>' in page(client, "judge", round_).text
