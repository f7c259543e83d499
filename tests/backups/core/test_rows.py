import json
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.backups.core.kinds import Kind
from apps.backups.core.rows import Column, Lines, Table, TableState, read_lines

PLAIN = Table("plain", "id", (Column("id", Kind.INTEGER), Column("name", Kind.TEXT)))
WITH_JSON = Table("with_json", "id", (Column("id", Kind.INTEGER), Column("data", Kind.JSON)))
NOTHING = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


def test_rows_are_read_back_from_their_lines():
    rows = [[1, "a\nb"], [2, None], [3, "\ud800 blå"]]

    text = Lines(PLAIN).of(rows)

    assert [*read_lines(text.splitlines(keepends=True))] == rows


def test_a_digest_is_the_same_however_the_rows_come():
    rows = [[n, str(n)] for n in range(10)]
    at_once, one_by_one = Lines(PLAIN), Lines(PLAIN)
    at_once.of(rows)
    for row in rows:
        one_by_one.of([row])

    assert at_once.state == one_by_one.state
    assert at_once.state.rows == 10


def test_a_digest_does_not_depend_on_the_order_of_keys_in_json_but_the_lines_keep_it():
    first, second = Lines(WITH_JSON), Lines(WITH_JSON)

    assert first.of([[1, [{"b": 1, "a": 2}]]]) == b'[1,[{"b":1,"a":2}]]\n'
    second.of([[1, [{"a": 2, "b": 1}]]])

    assert first.state == second.state


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_digest_does_not_depend_on_how_a_database_writes_a_number_of_json(value):
    """PostgreSQL stores numbers of JSON as decimals, and writes all their digits."""
    ours, theirs = Lines(WITH_JSON), Lines(WITH_JSON)

    ours.of([[1, [value]]])
    theirs.of([[1, [json.loads(format(Decimal(repr(value)), "f"))]]])

    assert ours.state == theirs.state


@pytest.mark.parametrize("other", [[[1, "a"], [2, "c"]], [[2, "b"], [1, "a"]], [[1, "a"]], [[1, None], [2, "b"]]])
def test_another_value_order_or_number_of_rows_is_another_digest(other):
    ours, theirs = Lines(PLAIN), Lines(PLAIN)
    ours.of([[1, "a"], [2, "b"]])
    theirs.of(other)

    assert ours.state != theirs.state


def test_a_table_without_rows_has_the_digest_of_nothing():
    assert Lines(PLAIN).state == TableState(0, NOTHING)


@pytest.mark.parametrize("line", [b"{}\n", b"7\n", b"[1\n", b"\n"])
def test_a_line_that_is_no_row_is_refused(line):
    with pytest.raises(ValueError):
        [*read_lines([line])]
