"""A person's own work: pace at once, how their grades held only after the round, and never another's grade."""

import zoneinfo
from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from apps.accounts.enums import Role
from apps.agreement.core.weeks import monday_of
from apps.judging.actions.rounds import close_round
from apps.judging.enums import SeatState
from apps.judging.models import Judgement, KnownAnswer, Seat
from apps.judging.selectors import my_progress
from apps.metrics.agreement.ratings import Rate
from tests.factories import AT, lead_of, make_member, make_project
from tests.judging.factories import decide, entries_of, give, judge_all, judge_pairs, make_pool, make_round, people_of
from tests.module_rows import rows_of_module

pytestmark = pytest.mark.django_db

SECRET = "The block names no cipher at all."


@rows_of_module
def round_():
    """One query and three pairs, judged twice: 0, 1, 2 and 3, 2, 2; a lead decides the first two: 0 and 2."""
    round_ = make_round(queries=1, blocks=3, overlap=1.0)
    judge_pairs(round_, (0, 1, 2), (3, 2, 2))
    for entry, grade in zip(entries_of(round_), (0, 2), strict=False):
        decide(round_, entry, grade=grade, reason=SECRET)
    return round_


def close(round_):
    return close_round(round_id=round_.pk, actor=lead_of(round_.project), at=AT)


def page(client, person, project):
    client.force_login(person)
    return client.get(reverse("judging:mine", args=[project.slug]))


def own(round_, person):
    (row,) = my_progress.own_rounds(person, round_.project)
    return row


def add_pass(round_, person, entry, number, grade):
    """A pair met again (2) or a check (0), as the plan of a round would hand it out."""
    seat = Seat.objects.create(
        round=round_, entry=entry, query=entry.query, number=10_000 * (number + 1), pass_number=number,
        reserved_for=person, due_after=0, state=SeatState.LEASED, annotator=person, lease_expires_at=AT,
    )  # fmt: skip
    return give(seat, person, grade)


def test_only_the_pace_is_shown_while_the_round_is_open(round_, client):
    mara, _ = people_of(round_)

    row = own(round_, mara)
    text = page(client, mara, round_.project).content.decode()

    assert (row.pairs, row.repeats, row.decisions, row.checks) == (3, None, None, None)
    assert my_progress.own_decisions(mara, round_.project) == []
    assert "shown when the round is closed" in text
    assert SECRET not in text


def test_after_the_round_a_person_sees_where_a_decision_went_another_way(round_, client):
    mara, sef = people_of(round_)
    close(round_)

    assert own(round_, mara).decisions == Rate(1, 2)
    assert own(round_, sef).decisions == Rate(1, 2)
    assert [(each.own_grade, each.grade) for each in my_progress.own_decisions(mara, round_.project)] == [(1, 2)]
    assert SECRET in page(client, mara, round_.project).content.decode()


def test_nobody_elses_name_is_on_the_page(round_, client):
    mara, sef = people_of(round_)
    close(round_)

    text = page(client, mara, round_.project).content.decode()

    assert sef.name not in text
    assert lead_of(round_.project).name not in text


def test_a_pair_that_a_person_may_be_given_again_is_not_shown(round_, client):
    mara, sef = people_of(round_)
    close(round_)
    make_round(round_.project, pool=round_.pool, annotators=[mara], overlap=0.0, judges=1, judge_again=True)

    assert my_progress.own_decisions(mara, round_.project) == []
    assert my_progress.own_rounds(mara, round_.project)[1].decisions == Rate(0, 0)
    assert SECRET not in page(client, mara, round_.project).content.decode()
    assert len(my_progress.own_decisions(sef, round_.project)) == 1


def test_the_same_pair_twice_measures_how_consistent_somebody_is(round_):
    mara, sef = people_of(round_)
    add_pass(round_, mara, entries_of(round_)[2], 2, 2)
    close(round_)

    assert own(round_, mara).repeats == Rate(1, 1)
    assert own(round_, sef).repeats == Rate(0, 0)
    assert own(round_, mara).pairs == 3


def test_checks_show_how_many_were_right(round_):
    mara, sef = people_of(round_)
    for entry, known, given in zip(entries_of(round_), (3, 2, 0), (3, 1, None), strict=True):
        KnownAnswer.objects.create(round=round_, entry=entry, grade=known, origin="The team.")
        add_pass(round_, mara, entry, 0, given)
    close(round_)

    assert own(round_, mara).checks == Rate(1, 3)
    assert own(round_, sef).checks == Rate(0, 0)


def test_a_pair_that_nobody_can_judge_is_like_a_cant_judge():
    round_ = make_round(queries=1, blocks=1, overlap=1.0)
    mara, sef = people_of(round_)
    judge_all(round_, mara, lambda seat: None)
    judge_all(round_, sef, lambda seat: 2)
    decide(round_, entries_of(round_)[0], grade=None, error_type="unreadable")
    close(round_)

    assert [own(round_, person).decisions for person in (mara, sef)] == [Rate(1, 1), Rate(0, 1)]
    assert my_progress.own_decisions(mara, round_.project) == []


def test_pace_is_shown_by_week(client):
    round_ = make_round(queries=1, blocks=2, annotators=1, overlap=0.0)
    (mara,) = people_of(round_)
    judge_all(round_, mara)
    seat = round_.seats.first()
    give(seat, mara, 1, active_ms=90_000)

    (week,) = my_progress.own_weeks(mara, round_.project)

    assert (week.pairs, week.pace, week.hours) == (2, "1:30", 0.025)
    assert Judgement.objects.filter(annotator=mara).count() == 3


def test_a_person_without_rounds_sees_an_empty_state(client):
    project = make_project()

    assert "Nothing yet" in page(client, make_member(project, Role.ANNOTATOR), project).content.decode()


@pytest.mark.parametrize("rounds", [1, 3])
def test_the_page_runs_as_many_queries_for_one_round_as_for_many(rounds, client, django_assert_num_queries):
    project = make_project()
    mara, sef = (make_member(project, Role.ANNOTATOR) for _ in range(2))
    for _ in range(rounds):
        round_ = make_round(project, pool=make_pool(project, queries=1, blocks=2), annotators=[mara, sef], overlap=1.0)
        judge_all(round_, mara, lambda seat: 0)
        judge_all(round_, sef, lambda seat: 3)
        decide(round_, entries_of(round_)[0])
        close(round_)
    client.force_login(mara)

    with django_assert_num_queries(11):
        client.get(reverse("judging:mine", args=[project.slug]))


@pytest.mark.parametrize("zone", ["UTC", "Pacific/Auckland", "America/Los_Angeles"])
def test_weeks_are_cut_in_utc_whoever_reads_them(zone):
    """Sunday, 23:30 UTC, is Monday in Auckland; the pages of agreement count it to the week before."""
    round_ = make_round(queries=1, blocks=2, overlap=1.0)
    person = people_of(round_)[0]
    sunday = AT - timedelta(days=AT.weekday() + 1)
    sunday = sunday.replace(hour=23, minute=30)
    judge_all(round_, person, at=sunday)

    with timezone.override(zoneinfo.ZoneInfo(zone)):
        (week,) = my_progress.own_weeks(person, round_.project)

    assert (week.begins, week.pairs) == (monday_of(sunday.date()), 2)
