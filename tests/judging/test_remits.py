"""Who may judge what, and rounds that take only what is new in a pool."""

import pytest

from apps.accounts.enums import Role
from apps.common.errors import Refusal
from apps.judging.actions.seats import claim_query_seats
from apps.judging.models import Seat
from apps.queries.models import Query
from apps.retrieval.models import PoolEntry
from tests.factories import AT, make_member
from tests.judging.factories import give, judge_all, make_pool, make_round, people_of

pytestmark = pytest.mark.django_db
LAW = {"domain": ["law"]}


@pytest.fixture
def pool(project):
    pool = make_pool(project, queries=4, blocks=3)
    law = Query.objects.filter(pk__in=pool.pool_queries.order_by("pk").values("query")[:2])
    Query.objects.filter(pk__in=list(law.values_list("pk", flat=True))).update(domain="law")
    return pool


@pytest.fixture
def people(project):
    return [make_member(project, Role.ANNOTATOR, name=f"Judge {n}") for n in range(2)]


def test_a_person_is_given_only_what_they_may_judge(project, pool, people):
    mara, sef = people
    round_ = make_round(project, pool=pool, annotators=people, overlap=0.0, remits={mara.pk: LAW})

    mine = judge_all(round_, mara)

    assert {judgement.seat.query.domain for judgement in mine} == {"law"}
    assert len(mine) == 6
    assert len(judge_all(round_, sef)) == 6


def test_viewing_all_candidates_of_a_query_respects_the_remit_too(project, pool, people):
    round_ = make_round(project, pool=pool, annotators=people, overlap=0.0, remits={people[0].pk: LAW})

    seats = claim_query_seats(round_=round_, annotator=people[0], at=AT)

    assert {seat.query.domain for seat in seats} == {"law"}


def test_a_grade_outside_of_it_is_refused(project, pool, people):
    round_ = make_round(project, pool=pool, annotators=people, overlap=0.0, remits={people[0].pk: LAW})
    seat = Seat.objects.filter(round=round_, query__domain="").first()

    with pytest.raises(Refusal) as refusal:
        give(seat, people[0])

    assert refusal.value.code == "seat_not_open"


def test_a_plan_that_leaves_queries_without_judges_is_refused(project, pool, people):
    with pytest.raises(Refusal, match=r"2 queries are not open to anybody: .* is one"):
        make_round(project, pool=pool, annotators=people, overlap=0.0, remits={p.pk: LAW for p in people})
    with pytest.raises(Refusal, match="2 queries are not open to 2 people"):
        make_round(project, pool=pool, annotators=people, overlap=0.5, remits={people[0].pk: LAW})


def test_a_pilot_goes_to_everybody_who_may_judge_it(project, pool, people):
    round_ = make_round(
        project, pool=pool, annotators=people, overlap=0.0, pilot=4, remits={people[0].pk: LAW}
    )  # fmt: skip

    by_domain = {domain: Seat.objects.filter(round=round_, query__domain=domain).count() for domain in ("law", "")}
    assert by_domain == {"law": 12, "": 6}


def grow(pool, n=2):
    """What a growing pool does: further pairs, of other texts."""
    other = make_pool(pool.project, queries=1, blocks=n)
    query = pool.pool_queries.first().query_id
    versions = other.entries.values_list("version_id", flat=True)
    rows = [PoolEntry(pool=pool, query_id=query, version_id=version, found_by=[[1, 4]]) for version in versions]
    PoolEntry.objects.bulk_create(rows)
    pool.entry_count += n
    pool.save()
    return rows


def test_a_round_of_only_new_pairs_leaves_what_was_planned_alone(project, pool, people):
    first = make_round(project, pool=pool, annotators=people, overlap=1.0)
    judge_all(first, people[0])
    before = list(Seat.objects.filter(round=first).order_by("pk").values())
    new = grow(pool)

    second = make_round(project, pool=pool, annotators=people, overlap=1.0, only_new=True)

    assert set(Seat.objects.filter(round=second).values_list("entry", flat=True)) == {entry.pk for entry in new}
    assert Seat.objects.filter(round=second).count() == 4
    assert list(Seat.objects.filter(round=first).order_by("pk").values()) == before


def test_without_new_pairs_no_round_is_opened(project, pool, people):
    make_round(project, pool=pool, annotators=people, overlap=0.0)

    with pytest.raises(Refusal, match="nothing new to judge"):
        make_round(project, pool=pool, annotators=people, overlap=0.0, only_new=True)


def test_pairs_that_came_after_the_plan_are_not_part_of_a_round(project, pool, people, monkeypatch):
    from apps.judging.actions import rounds
    from tests.running_jobs import run_jobs

    monkeypatch.setattr(rounds, "MOST_PAIRS_AT_ONCE", 5)
    round_ = make_round(project, pool=pool, annotators=people, overlap=0.0)
    with pytest.raises(Refusal, match="still being opened"):
        make_round(project, pool=pool, annotators=people, overlap=0.0, only_new=True)
    grow(pool)

    run_jobs()

    assert Seat.objects.filter(round=round_).count() == 12
    assert people_of(round_) == people
