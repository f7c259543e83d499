"""How the database finds the next pair: through indexes, whatever lies in the pool."""

import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from apps.common.database.statements import prepared_cursor, rows_of
from apps.judging.actions.seats import IN_OWN_ORDER, claim_seats
from apps.judging.core.seeded_order import PRIME, own_order
from apps.judging.models import RoundAnnotator, Seat
from apps.queries.models import Query
from tests.factories import AT
from tests.judging.factories import give, make_round, people_of

pytestmark = pytest.mark.django_db

SEATS = "judging_seat"
SCANS = {"sqlite": re.compile(r"SCAN (judging_seat|[fjlms])\b"), "postgresql": re.compile("Seq Scan on judging_seat")}


def plan_of_statement(sql):
    is_sqlite = connection.vendor == "sqlite"
    with connection.cursor() as cursor:
        if not is_sqlite:
            # A table of a test is read through in any case; what is left without an index shows when that is dear.
            cursor.execute("SET LOCAL enable_seqscan = off")
        cursor.execute(("EXPLAIN QUERY PLAN " if is_sqlite else "EXPLAIN ") + sql)
        return "\n".join(str(row[-1]) for row in cursor.fetchall())


@pytest.mark.parametrize("only", [None, {"domain": ["law"]}])
def test_no_statement_of_a_claim_reads_through_the_seats(only):
    round_ = make_round(queries=4, blocks=5, annotators=2, overlap=0.5, pilot=2)
    mara = people_of(round_)[0]
    RoundAnnotator.objects.filter(annotator=mara).update(only=only)
    Query.objects.update(domain="law")
    Seat.objects.filter(pk=Seat.objects.first().pk).update(reserved_for=mara, due_after=0)

    with CaptureQueriesContext(connection) as found:
        assert len(claim_seats(round_=round_, annotator=mara, n=8, at=AT)) == 8

    plans = [plan_of_statement(query["sql"]) for query in found.captured_queries if SEATS in query["sql"]]
    assert len(plans) in (4, 5, 6)  # more where the reserved pair is in the pilot, or where a query does not suffice
    assert [plan for plan in plans if SCANS[connection.vendor].search(plan)] == []


def test_no_statement_of_a_grade_reads_through_seats_or_grades():
    round_ = make_round(queries=4, blocks=5, annotators=2, overlap=0.5, again=1.0, pilot=2)
    mara = people_of(round_)[0]
    (seat,) = claim_seats(round_=round_, annotator=mara, n=1, at=AT)

    with CaptureQueriesContext(connection) as found:
        give(seat, mara)

    plans = [plan_of_statement(query["sql"]) for query in found.captured_queries if " " in query["sql"].strip()]
    scans = re.compile(r"SCAN (judging_\w+|[bfgjlos])\b|Seq Scan on judging")
    assert len(plans) > 3
    assert [plan for plan in plans if scans.search(plan)] == []


def test_the_database_orders_pairs_as_python_does():
    round_ = make_round(queries=2, blocks=8, annotators=1, overlap=0.0)
    own = own_order(round_.seed, people_of(round_)[0].pk)
    values = {"round": round_.pk, "prime": PRIME, "factor": own.factor, "shift": own.shift}
    with prepared_cursor() as cursor:
        statement = "SELECT s.entry_id FROM judging_seat s WHERE s.round_id = %(round)s" + IN_OWN_ORDER
        by_database = [entry for (entry,) in rows_of(cursor, statement, values)]

    assert by_database == sorted(by_database, key=lambda entry: (own.rank(entry), entry)) != sorted(by_database)
