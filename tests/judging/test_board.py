"""A lead's board: who differs where, what is stuck, when it ends; and nothing of it for who still grades."""

from datetime import timedelta

import pytest
from django.urls import reverse

from apps.accounts.actions import projects
from apps.accounts.enums import Role
from apps.audit.models import Event
from apps.common.errors import Forbidden
from apps.judging.actions.rounds import close_round
from apps.judging.actions.seats import claim_seats, return_seats_of
from apps.judging.selectors import board
from apps.judging.selectors.board import Overlap, answers_in
from tests.factories import AT, lead_of, make_member, make_project
from tests.judging.factories import (
    decide,
    entries_of,
    give,
    judge_all,
    judge_pairs,
    later,
    make_pool,
    make_round,
    people_of,
)
from tests.module_rows import rows_of_module

pytestmark = pytest.mark.django_db


@rows_of_module
def round_():
    """Two queries of two pairs, judged twice: three differ, one of these because somebody can't judge it."""
    round_ = make_round(queries=2, blocks=2, overlap=1.0)
    judge_pairs(round_, (0, 2, 1, None), (3, 2, 2, 1))
    return round_


def url(name, round_):
    return reverse(f"judging:{name}", args=[round_.project.slug, round_.pk])


def test_shared_pairs_are_counted_by_query_and_by_person(round_):
    decide(round_, entries_of(round_)[2], grade=1)

    one, two = (row.query.outside_id for row in round_.pool.pool_queries.order_by("query_id"))
    assert board.overlaps(round_).by_query == {one: Overlap(2, 1, 0), two: Overlap(2, 2, 1)}
    assert board.overlaps(round_).by_person == {person.pk: Overlap(4, 3) for person in people_of(round_)}
    assert board.overlap_of(board.overlaps(round_).by_query) == Overlap(4, 3, 1)


def test_a_changed_grade_counts_with_its_latest_value(round_):
    mara = people_of(round_)[0]
    give(round_.seats.get(entry=entries_of(round_)[0], annotator=mara), mara, 3)

    assert board.overlap_of(board.overlaps(round_).by_query) == Overlap(4, 2, 0)


def test_two_who_both_could_not_judge_do_not_differ():
    round_ = make_round(queries=1, blocks=1, overlap=1.0)
    for person in people_of(round_):
        judge_all(round_, person, lambda seat: None)

    assert board.overlap_of(board.overlaps(round_).by_query) == Overlap(1, 0, 0)


def test_a_round_that_nobody_shares_has_nothing_in_common():
    assert board.overlap_of(board.overlaps(make_round()).by_query) == Overlap(0, 0, 0)


def test_only_what_was_judged_in_the_last_days_counts_as_lately(round_):
    mara, sef = people_of(round_)

    answers = answers_in(round_, at=later(60))
    assert (answers.lately.days, answers.lately.judgements) == (1, 8)
    assert [answers.of(person).lately for person in (mara, sef)] == [4, 4]
    assert answers_in(round_, at=AT + timedelta(days=30)).lately[:2] == (7, 0)


def test_seats_with_an_expired_lease_or_of_somebody_who_left_are_stuck():
    round_ = make_round(queries=1, blocks=4, annotators=3, overlap=1.0)
    mara, sef, tobias = people_of(round_)
    for person in (mara, sef):
        claim_seats(round_=round_, annotator=person, n=2, at=AT)
    claim_seats(round_=round_, annotator=tobias, n=2, at=later(29))
    projects.set_roles(project=round_.project, user=mara, roles=[], actor=lead_of(round_.project), at=AT)

    def stuck_at(minutes):
        return board.stuck_holders(round_, board.taken_seats(round_, at=later(minutes)))

    found = {row.person.pk: (row.held, row.has_left) for row in stuck_at(31)}
    early = {row.person.pk for row in stuck_at(1)}

    assert found == {mara.pk: (2, True), sef.pk: (2, False)}
    assert early == {mara.pk}


def test_a_lead_releases_the_leases_of_a_person_and_the_event_is_recorded():
    round_ = make_round(queries=1, blocks=8, overlap=0.0)
    mara, sef = people_of(round_)
    claim_seats(round_=round_, annotator=mara, n=4, at=AT)

    n = return_seats_of(round_=round_, holder=mara, actor=lead_of(round_.project), at=AT)

    assert n == 4
    event = Event.objects.get(action="seats.returned")
    assert (event.object_id, event.after) == (str(mara.pk), {"round": round_.pk, "seats": 4})
    assert len(claim_seats(round_=round_, annotator=sef, n=10, at=AT)) == 4


def test_releasing_no_lease_records_no_event_and_strangers_have_none(round_):
    mara = people_of(round_)[0]

    assert return_seats_of(round_=round_, holder=mara, actor=lead_of(round_.project), at=AT) == 0
    assert not Event.objects.filter(action="seats.returned").exists()
    with pytest.raises(Forbidden):
        return_seats_of(round_=round_, holder=make_member(round_.project), actor=lead_of(round_.project), at=AT)


def test_the_board_offers_to_give_back_and_does(client):
    round_ = make_round(queries=1, blocks=8, overlap=0.0)
    mara = people_of(round_)[0]
    claim_seats(round_=round_, annotator=mara, n=4, at=AT)
    client.force_login(lead_of(round_.project))

    assert "longer than pairs are reserved" in client.get(url("round", round_)).content.decode()
    done = client.post(url("give-back", round_), {"person": mara.pk}, follow=True).content.decode()

    assert "4 pairs are free for others again" in done
    assert "longer than pairs are reserved" not in done
    assert (
        "No person of this round"
        in client.post(url("give-back", round_), {"person": "x"}, follow=True).content.decode()
    )


def test_a_lead_sees_where_people_differ(round_, client):
    client.force_login(lead_of(round_.project))

    text = client.get(url("round", round_)).content.decode()

    assert "4 pairs with two judges or more: 3 differ, 0 of these settled since" in text


def test_in_a_large_round_differences_are_counted_on_request(round_, client, monkeypatch):
    monkeypatch.setattr("apps.judging.pages.board.COUNTED_AT_ONCE", 7)
    client.force_login(lead_of(round_.project))

    put_off, asked = client.get(url("round", round_)), client.get(url("round", round_) + "?differ")

    assert (put_off.context["overlap"], asked.context["overlap"]) == (None, Overlap(4, 3, 0))
    assert "Count where people differ" in put_off.content.decode()
    assert "Count where people differ" not in asked.content.decode()


def test_a_lead_who_grades_in_the_round_does_not_before_it_is_closed(round_, client):
    mara = people_of(round_)[0]
    lead = lead_of(round_.project)
    projects.set_roles(project=round_.project, user=mara, roles=[Role.LEAD, Role.ANNOTATOR], actor=lead, at=AT)
    client.force_login(mara)

    before = client.get(url("round", round_))
    close_round(round_id=round_.pk, actor=lead, at=AT)
    after = client.get(url("round", round_))

    assert (before.context["overlap"], after.context["overlap"]) == (None, Overlap(4, 3, 0))
    assert "3 differ" not in before.content.decode()
    assert all(row.overlap is None for row in (*before.context["people"], *before.context["queries"]))


@pytest.mark.parametrize(("queries", "annotators"), [(1, 2), (3, 4)])
def test_the_board_runs_as_many_queries_for_many_as_for_few(queries, annotators, client, django_assert_num_queries):
    project = make_project()
    pool = make_pool(project, queries=queries, blocks=3)
    round_ = make_round(project, pool=pool, annotators=annotators, overlap=1.0)
    for grade, person in enumerate(people_of(round_)[:2]):
        judge_all(round_, person, lambda seat, g=grade: g)
    for person in people_of(round_)[2:]:
        claim_seats(round_=round_, annotator=person, n=1, at=AT)
    client.force_login(lead_of(project))

    with django_assert_num_queries(14):
        client.get(url("round", round_))


def test_closing_says_what_is_missing_and_the_closed_round_what_comes_next(client):
    round_ = make_round(queries=1, blocks=4, overlap=0.0)
    mara = people_of(round_)[0]
    give(claim_seats(round_=round_, annotator=mara, n=1, at=AT)[0], mara, 2)
    client.force_login(lead_of(round_.project))

    before = client.get(url("round", round_)).text
    close_round(round_id=round_.pk, actor=lead_of(round_.project), at=AT)
    after = client.get(url("round", round_)).text

    assert "3 planned judgements are still missing. A new round on the same pool takes up the pairs" in before
    assert "release a version" not in before
    assert "3 planned judgements were not given" in after
    assert reverse("goldsets:list", args=[round_.project.slug]) in after
    assert f"{reverse('judging:new-round', args=[round_.project.slug])}?pool={round_.pool_id}" in after
