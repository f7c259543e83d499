"""How the database finds the next pair: through indexes, whatever lies in the pool."""

import re
from collections.abc import Callable

import pytest
from django.db import connection

from apps.common.database.statements import prepared_cursor, rows_of
from apps.judging.actions.seats import IN_OWN_ORDER, claim_seats
from apps.judging.core.plan import PRIME, own_order
from apps.judging.models import RoundAnnotator, Seat
from apps.queries.models import Query
from tests.factories import AT
from tests.judging.factories import give, make_round, people_of

pytestmark = pytest.mark.django_db

SCANS = {
    "sqlite": re.compile(r"SCAN (judging_(seat|judgement)|[bfgjlmos])\b"),
    "postgresql": re.compile("Seq Scan on judging_(seat|judgement)"),
}


def plans_of(work: Callable[[], object]) -> list[str]:
    """How the database finds what the statements of this work ask of rounds and grades."""
    found: list[tuple] = []

    def note(execute, sql, params, *rest):
        if "judging_" in sql:
            found.append((sql, params))
        return execute(sql, params, *rest)

    with connection.execute_wrapper(note):
        assert work()
    is_sqlite = connection.vendor == "sqlite"
    plans = []
    with connection.cursor() as cursor:
        if not is_sqlite:
            # A table of a test is read through in any case; what is left without an index shows when that is dear.
            cursor.execute("SET LOCAL enable_seqscan = off")
        for sql, params in found:
            cursor.execute(("EXPLAIN QUERY PLAN " if is_sqlite else "EXPLAIN ") + sql, params)
            plans.append("\n".join(str(row[-1]) for row in cursor.fetchall()))
    return plans


@pytest.mark.parametrize("only", [None, {"domain": ["law"]}])
def test_no_statement_of_a_claim_reads_through_the_seats(only):
    round_ = make_round(queries=4, blocks=5, annotators=2, overlap=0.5, pilot=2)
    mara = people_of(round_)[0]
    RoundAnnotator.objects.filter(annotator=mara).update(only=only)
    Query.objects.update(domain="law")
    Seat.objects.filter(pk=Seat.objects.first().pk).update(reserved_for=mara, due_after=0)

    plans = plans_of(lambda: claim_seats(round_=round_, annotator=mara, n=8, at=AT))

    assert len(plans) > 3
    assert [plan for plan in plans if SCANS[connection.vendor].search(plan)] == []


def test_no_statement_of_a_grade_reads_through_seats_or_grades():
    round_ = make_round(queries=4, blocks=5, annotators=2, overlap=0.5, again=1.0, pilot=2)
    mara = people_of(round_)[0]
    (seat,) = claim_seats(round_=round_, annotator=mara, n=1, at=AT)

    plans = plans_of(lambda: give(seat, mara))

    assert len(plans) > 3
    assert [plan for plan in plans if SCANS[connection.vendor].search(plan)] == []


def test_the_database_orders_pairs_as_python_does():
    round_ = make_round(queries=2, blocks=8, annotators=1, overlap=0.0)
    own = own_order(round_.seed, people_of(round_)[0].pk)
    values = {"round": round_.pk, "prime": PRIME, "factor": own.factor, "shift": own.shift}
    with prepared_cursor() as cursor:
        statement = "SELECT s.entry_id FROM judging_seat s WHERE s.round_id = %(round)s" + IN_OWN_ORDER
        by_database = [entry for (entry,) in rows_of(cursor, statement, values)]

    assert by_database == sorted(by_database, key=lambda entry: (own.rank(entry), entry)) != sorted(by_database)
