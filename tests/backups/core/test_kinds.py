import sqlite3
import uuid
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal

import pytest

from apps.backups.core.rows import FROM_POSTGRESQL, FROM_SQLITE, TO_POSTGRESQL, TO_SQLITE, Kind

WHEN = datetime(2026, 3, 2, 9, 0, 0, 120_000, tzinfo=UTC)
ID = uuid.UUID("12345678-1234-5678-1234-567812345678")

SAME = [
    (Kind.INTEGER, 7, 7, 7),
    (Kind.TEXT, "blå", "blå", "blå"),
    (Kind.REAL, 2, 2.0, 2.0),
    (Kind.BOOLEAN, 1, True, True),
    (Kind.TIME, "2026-03-02 09:00:00.120", WHEN, "2026-03-02 09:00:00.120000"),
    (Kind.TIME, "2026-03-02 09:00:00", WHEN.replace(microsecond=0), "2026-03-02 09:00:00"),
    (Kind.TIME, "2026-03-02 09:00:00", datetime(2026, 3, 2, 11, tzinfo=timezone(timedelta(hours=2))),
     "2026-03-02 09:00:00"),
    (Kind.JSON, '{"b": 1, "a": [1.5, null]}', '{"b": 1, "a": [1.5, null]}', [{"b": 1, "a": [1.5, None]}]),
    (Kind.JSON, "null", "null", [None]),
    (Kind.BYTES, b"\x00\xff", b"\x00\xff", "AP8="),
    (Kind.DECIMAL, 12.5, Decimal("12.5000"), "12.5"),
    (Kind.DECIMAL, 0, Decimal("0.0000"), "0"),
    (Kind.UUID, ID.hex, ID, ID.hex),
]  # fmt: skip


def through(by_kind, kind, value):
    return by_kind[kind](value) if kind in by_kind else value


@pytest.mark.parametrize(("kind", "in_sqlite", "in_postgresql", "common"), SAME)
def test_a_value_has_one_form_whichever_database_it_was_in_and_is_read_back_from_sqlite(
    kind, in_sqlite, in_postgresql, common
):
    assert through(FROM_SQLITE, kind, in_sqlite) == common
    assert through(FROM_POSTGRESQL, kind, in_postgresql) == common
    types = {Kind.DECIMAL: "decimal", Kind.REAL: "real", Kind.BOOLEAN: "bool", Kind.TIME: "datetime"}
    with sqlite3.connect(":memory:") as database:
        database.execute(f"CREATE TABLE t (v {types.get(kind, '')})")
        database.execute("INSERT INTO t VALUES (?)", [through(TO_SQLITE, kind, common)])
        [(stored,)] = database.execute("SELECT v FROM t").fetchall()

    assert through(FROM_SQLITE, kind, stored) == common


def test_what_is_copied_to_postgresql_is_named_with_its_time_zone_and_type():
    assert TO_POSTGRESQL[Kind.TIME]("2026-03-02 09:00:00") == "2026-03-02 09:00:00+00"
    assert TO_POSTGRESQL[Kind.UUID](ID.hex) == ID
    assert TO_POSTGRESQL[Kind.BYTES]("AP8=") == b"\x00\xff"
    assert TO_POSTGRESQL[Kind.JSON]([None]) == "null"
