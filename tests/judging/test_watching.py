"""What a monitor is told of judging: grades in all, and leases that nobody took back."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from apps.judging.actions.seats import claim_seats
from apps.judging.models import Judgement
from apps.judging.selectors.rounds import grade_metrics, lease_metrics
from tests.factories import AT
from tests.judging.factories import give, judge_all, make_round, people_of

pytestmark = pytest.mark.django_db


def value(metrics) -> float:
    ((sample,),) = [metric.samples for metric in metrics]
    return sample.value


def test_every_grade_counts_once_more():
    round_ = make_round(queries=1, blocks=4, annotators=1, overlap=0.0)
    (person,) = people_of(round_)
    assert value(grade_metrics(timezone.now())) == 0
    give(claim_seats(round_=round_, annotator=person, n=1, at=AT)[0], person)
    before = value(grade_metrics(timezone.now()))

    judge_all(round_, person, lambda block: 1)

    assert value(grade_metrics(timezone.now())) - before == Judgement.objects.count() - 1 == 3


def test_a_lease_lapses_with_its_time():
    at = timezone.now()
    round_ = make_round(at=at)
    seats = claim_seats(round_=round_, annotator=people_of(round_)[0], n=3, at=at)

    assert value(lease_metrics(at)) == 0
    assert value(lease_metrics(at + timedelta(days=1))) == len(seats) == 3


@pytest.mark.parametrize(
    ("sql", "params", "found"),
    [
        ("SELECT MAX(id) FROM judging_judgement", [], "SEARCH judging_judgement"),
        (
            "SELECT COUNT(*) FROM judging_seat WHERE lease_expires_at < %s AND state = %s",
            ["2026-01-01", "leased"],
            "USING INDEX judging_seat_leased",
        ),
    ],
)
def test_neither_reads_a_million_rows(sql, params, found):
    if connection.vendor != "sqlite":
        pytest.skip("PostgreSQL chooses by the number of rows")
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN QUERY PLAN {sql}", params)
        assert found in str(cursor.fetchall()).replace("COVERING ", "")


def test_these_are_their_statements():
    with CaptureQueriesContext(connection) as asked:
        grade_metrics(timezone.now()), lease_metrics(timezone.now())

    grades, leases = [query["sql"].replace('"', "") for query in asked.captured_queries]
    assert grades == "SELECT MAX(judging_judgement.id) AS highest FROM judging_judgement"
    assert "lease_expires_at < " in leases
    assert "judging_seat.state = " in leases
