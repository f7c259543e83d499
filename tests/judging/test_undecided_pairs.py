"""The list of undecided pairs is kept at a cost that does not grow with the grades of a project."""

import pytest
from django.db import connection

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite takes an index wherever there is one"),
]


@pytest.mark.parametrize("table", ["judging_seat", "judging_judgement"])
def test_no_grade_reads_all_the_others_of_a_table_that_was_not_counted_yet(table):
    with connection.cursor() as cursor:
        cursor.execute("SELECT proconfig FROM pg_proc WHERE proname = %s", [f"karat_keeper_{table}_undecided"])
        assert cursor.fetchall() == [(["enable_seqscan=off"],)]
