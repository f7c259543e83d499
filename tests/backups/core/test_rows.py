import json
from contextlib import suppress
from decimal import Decimal
from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.backups.core import rows
from apps.backups.core.rows import FITS, Column, Kind, Lines, Table, TableState, read_rows

PLAIN = Table("plain", "id", (Column("id", Kind.INTEGER), Column("name", Kind.TEXT)))
WITH_JSON = Table("with_json", "id", (Column("id", Kind.INTEGER), Column("data", Kind.JSON)))
NOTHING = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


def test_rows_are_read_back_from_their_lines():
    given = [[1, "a\nb"], [2, None], [3, "\ud800 blå"]]

    text = Lines(PLAIN).of(given)

    assert [*read_rows(BytesIO(text), PLAIN)] == [given]


def test_a_digest_is_the_same_however_the_rows_come():
    given = [[n, str(n)] for n in range(10)]
    at_once, one_by_one = Lines(PLAIN), Lines(PLAIN)
    at_once.of(given)
    for row in given:
        one_by_one.of([row])

    assert at_once.state == one_by_one.state
    assert at_once.state.rows == 10
    assert Lines(PLAIN).state == TableState(0, NOTHING)


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


NO_ROWS = (
    b"{}", b"7", b"[1", b"", b"[1]", b'[1,"a",2]', b'["1","a"]', b"[true,null]", b"[1,2]", b'[1,"a"]\n[2,"b"',
    b"[9223372036854775808,null]", b"[" * 200_000, b'[1,"' + b"a" * 5_000 + b'"]', b"[" + b"[]," * 200 + b"1]",
)  # fmt: skip


@pytest.mark.parametrize("line", NO_ROWS, ids=range(len(NO_ROWS)))
def test_a_line_that_is_no_row_of_the_table_is_refused(line, monkeypatch):
    monkeypatch.setattr(rows, "MOST_LINE", 5_000 if len(line) < 100_000 else 1_000_000)
    monkeypatch.setattr(rows, "MOST_VALUES", 200 if len(line) < 100_000 else 1_000_000)

    with pytest.raises(rows.NO_ROW):
        [*read_rows(BytesIO(line + b"\n"), PLAIN)]
    with pytest.raises(ValueError, match="no end"):
        [*read_rows(BytesIO(b'[1,"a"]'), PLAIN)]


VALUES = {
    Kind.INTEGER: (-3, [True, 2**63, 1.0, "1"]),
    Kind.REAL: (1.5, [1, "1", None.__class__]),
    Kind.TEXT: ("a", [1, ["a"], b"a"]),
    Kind.BOOLEAN: (True, [1, "true"]),
    Kind.TIME: ("2026-11-26 23:36:29.123456", ["2026-11-26T23:36:29", "now", "'; --", 5, "2026-11-26 23:36:29+02:00 "]),
    Kind.DATE: ("2026-08-03", ["2026-8-3", "20260803", "2026-08-03 00:00:00", "now", 5]),
    Kind.JSON: ([{"a": 1}], [[], [1, 2], {"a": 1}, "[]"]),
    Kind.BYTES: ("AAE=", [1, ["AAE="]]),
    Kind.DECIMAL: ("1.5", ["1.50", "x", 1.5]),
    Kind.UUID: ("12345678123456781234567812345678", ["1234", 5, "12345678-1234-5678-1234-567812345678"]),
}


@pytest.mark.parametrize("kind", Kind)
def test_each_kind_of_value_has_one_form(kind):
    fitting, others = VALUES[kind]

    assert FITS[kind](fitting)
    for other in others:
        with suppress(*rows.NO_ROW):
            assert not FITS[kind](other), other


def test_rows_are_read_in_parts_that_fit_into_memory():
    large = [[n, "a" * (rows.BYTES_AT_ONCE // 2)] for n in range(5)]
    small = [[n, "a"] for n in range(2_500)]

    assert [len(part) for part in read_rows(BytesIO(Lines(PLAIN).of(large)), PLAIN)] == [2, 2, 1]
    assert [len(part) for part in read_rows(BytesIO(Lines(PLAIN).of(small)), PLAIN)] == [1_000, 1_000, 500]
