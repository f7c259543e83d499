"""What never changes, attacked from outside: statements that put one row in the place of another.

The attacks run on a copy of the schema in memory, as a stranger's client would open the file: foreign keys, checks
and recursive triggers are off. Each guarded table holds kept rows, 1 and 4, and beside them row 2, which is not kept
where that is possible; all were written before the guards came.
"""

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from functools import cache
from itertools import product

import pytest
from django.db import IntegrityError, connection, transaction

from apps.accounts.models import Project
from apps.common.database import triggers
from apps.common.database.triggers import Key
from apps.goldsets.enums import VersionState
from apps.judging.actions.rounds import close_round
from tests.factories import AT, make_project
from tests.goldsets.factories import make_bench, make_version
from tests.test_shape import declared_guards

pytestmark = pytest.mark.django_db

KEPT = {
    "calibration_calibration": {"state": "closed"},
    "reports_biasreport": {"computed_at": "2026-01-01"},
    "reports_negativesreport": {"computed_at": "2026-01-01"},
    "evaluation_evaluation": {"scored_at": "2026-01-01"},
    "reports_stabilityreport": {"computed_at": "2026-01-01"},
    "goldsets_version": {"state": "released"},
    "queries_query": {"locked_at": "2026-01-01"},
    "retrieval_run": {"state": "complete"},
    "triples_revision": {"submitted_at": "2026-01-01"},
}
"""What makes a row one that is kept, where not every row is."""
ALIVE = ("supersedes_id", "released_at")
"""Empty in the row that stands for its pair: partial keys hold among those."""
TABLES = sorted({guard.table for guard in declared_guards() if guard.event == "DELETE"})
INSERTS = ["REPLACE", "INSERT OR REPLACE", "upsert", "REPLACE by rowid"]


def on_sqlite() -> None:
    if connection.vendor != "sqlite":
        pytest.skip("PostgreSQL knows no REPLACE")


@pytest.fixture
def stranger(db) -> Iterator[sqlite3.Connection]:
    on_sqlite()
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as there:
        there.deserialize(two_rows_in_each())
        there.execute("PRAGMA ignore_check_constraints = ON")
        yield there


@cache
def two_rows_in_each() -> bytes:
    with connection.cursor() as cursor:
        cursor.execute("SELECT type, sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'corpus_search%'")
        schema = [(kind, sql) for kind, sql in cursor.fetchall() if "sqlite_" not in sql.split("(")[0]]
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as there:
        there.execute("PRAGMA ignore_check_constraints = ON")
        for sql in [sql for kind, sql in schema if kind == "table"] + [sql for kind, sql in schema if kind == "index"]:
            there.execute(sql)
        for table in TABLES:
            kept = KEPT.get(table, {})
            loose = {name: "draft" if name == "state" else None for name in kept}
            write(there, "INSERT", table, row_of(there, table, 1) | kept)
            write(there, "INSERT", table, row_of(there, table, 2) | loose)
            write(there, "INSERT", table, row_of(there, table, 4, alive=False) | kept)
        for sql in [sql for kind, sql in schema if kind == "trigger"]:
            there.execute(sql)
        return there.serialize()


def row_of(there: sqlite3.Connection, table: str, number: int, *, alive: bool = True) -> dict:
    """A row whose every value is `number`, in the type of its column."""
    row: dict = {}
    for _, name, kind, *_ in there.execute(f"PRAGMA table_info({table})"):
        is_number = re.match(r"(big|small)?int|bool|real|decimal", kind.lower())
        row[name] = None if alive and name in ALIVE else number if is_number else f"text {number}"
    return row


def write(there: sqlite3.Connection, verb: str, table: str, row: dict, rest: str = "") -> None:
    names = ", ".join(f'"{name}"' for name in row)
    there.execute(
        f'{verb} INTO "{table}" ({names}) VALUES ({", ".join("?" * len(row))}) {rest}',
        list(row.values()),
    )


def keys_of(table: str) -> list[Key]:
    with connection.cursor() as cursor:
        return triggers.unique_keys(cursor, table)


def protected_rows(there: sqlite3.Connection, table: str) -> list[tuple]:
    return there.execute(f'SELECT * FROM "{table}" WHERE id IN (1, 4) ORDER BY id').fetchall()


def attack_by_insert(there: sqlite3.Connection, how: str, table: str, key: Key, kept: dict) -> None:
    """Write row 3 with the key of a kept row."""
    row = row_of(there, table, 3) | {name: kept[name] for name in named_by(key)}
    if how == "upsert":
        target = ", ".join(f'"{name}"' for name in key.columns)
        where = f"WHERE {key.where}" if key.where else ""
        write(there, "INSERT", table, row, f'ON CONFLICT ({target}) {where} DO UPDATE SET "id" = 5')
        return
    if how == "REPLACE by rowid":
        row = {("rowid" if name == "id" else name): value for name, value in row.items()}
    write(there, how.removesuffix(" by rowid"), table, row)


def named_by(key: Key) -> list[str]:
    """The columns of a key, and those that its condition asks."""
    return [*key.columns, *re.findall(r'"(\w+)"', key.where)]


def protected_dicts(there: sqlite3.Connection, table: str) -> list[dict]:
    names = [name for _, name, *_ in there.execute(f"PRAGMA table_info({table})")]
    return [dict(zip(names, row, strict=True)) for row in protected_rows(there, table)]


@pytest.mark.parametrize("table", TABLES)
def test_no_insert_replaces_a_protected_row(stranger, table):
    before = protected_rows(stranger, table)

    for kept, key, how in product(protected_dicts(stranger, table), keys_of(table), INSERTS):
        refused = pytest.raises(sqlite3.IntegrityError) if key.columns == ("id",) else suppress(sqlite3.IntegrityError)
        with refused:  # an empty value, or a condition that does not hold, makes no two rows alike
            attack_by_insert(stranger, how, table, key, kept)
        assert protected_rows(stranger, table) == before, (key, how)


@pytest.mark.parametrize("table", TABLES)
def test_no_update_replaces_a_protected_row(stranger, table):
    before = protected_rows(stranger, table)

    for kept, key, name in product(protected_dicts(stranger, table), keys_of(table), ["id", "rowid"]):
        row = {column: kept[column] for column in named_by(key)}
        columns = ", ".join(f'"{name if column == "id" else column}" = ?' for column in row)
        with suppress(sqlite3.IntegrityError):
            stranger.execute(f'UPDATE OR REPLACE "{table}" SET {columns} WHERE id = 2', list(row.values()))
        assert protected_rows(stranger, table) == before, (key, name)


def test_without_the_guards_on_replacement_every_protected_row_could_be_replaced(stranger):
    """That the attacks are attacks."""
    triggers.remove(Cursor(stranger), TABLES)
    for (name,) in stranger.execute("SELECT name FROM sqlite_master WHERE type = 'trigger' AND sql LIKE '%INSERT ON%'"):
        stranger.execute(f'DROP TRIGGER "{name}"')

    for table in TABLES:
        before = protected_rows(stranger, table)
        attack_by_insert(stranger, "REPLACE", table, keys_of(table)[0], protected_dicts(stranger, table)[0])
        assert protected_rows(stranger, table) != before, table


class Cursor:
    """Enough of Django's cursor for `replacing` to work on a plain connection."""

    def __init__(self, there: sqlite3.Connection) -> None:
        self.there = there

    def execute(self, sql: str, values: tuple = ()) -> None:
        self.there.execute(sql, values)


def test_every_table_with_a_guard_on_deletion_knows_all_its_unique_keys():
    """A migration that gives such a table a key lifts its guards before, and installs them after."""
    on_sqlite()
    with connection.cursor() as cursor:
        tables = triggers.guarded_tables(cursor)
        cursor.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'")
        standing = dict(cursor.fetchall())
        wanted = {name: sql for table in tables for name, sql in triggers.wanted(cursor, table).items()}

    assert set(tables) == set(TABLES)
    assert {name: standing.get(name) for name in wanted} == wanted


def test_our_own_connections_fire_the_guards_of_deletion_on_a_replacement():
    on_sqlite()
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA recursive_triggers")
        assert cursor.fetchone() == (1,)


@pytest.mark.postgres
def test_no_upsert_changes_a_protected_row():
    """The rows of a released version and all that it rests on, by the real actions."""
    make_version(VersionState.RELEASED)
    guarded = {guard.table for guard in declared_guards() if guard.event == "UPDATE" and not guard.condition}
    tried = set()

    for table in sorted(guarded):
        with connection.cursor() as cursor:
            cursor.execute(f'SELECT * FROM "{table}" LIMIT 1')
            names, row = [column.name for column in cursor.description], cursor.fetchone()
            if row is None:
                continue
            tried.add(table)
            other = next(name for name in names if name != "id")
            with pytest.raises(IntegrityError, match=r"never|no further"), transaction.atomic():
                cursor.execute(
                    f'INSERT INTO "{table}" SELECT * FROM "{table}" WHERE id = %s'
                    f' ON CONFLICT (id) DO UPDATE SET "{other}" = excluded."{other}"',
                    [row[names.index("id")]],
                )

    assert {"audit_event", "corpus_snapshot", "corpus_snapshotblock", "judging_judgement", "review_verdict"} <= tried


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("UPDATE corpus_document SET outside_id = 'other'", "a document keeps its id"),
        ("UPDATE corpus_document SET id = id + 1000", "a document keeps its id"),
        ("DELETE FROM corpus_document", "a document is never deleted"),
        ("UPDATE corpus_block SET outside_id = 'other' WHERE outside_id = 'access'", "a block keeps its id"),
        ("UPDATE corpus_block SET document_id = document_id + 1", "a block keeps its id"),
        ("DELETE FROM corpus_block", "a block is never deleted"),
        ("UPDATE accounts_project SET scale = '[]'", "the scale is fixed"),
        ("DELETE FROM accounts_project", "a project is never deleted"),
        ("UPDATE judging_round SET state = 'opening'", "stays closed"),
        ("UPDATE judging_round SET opened_at = NULL", "when a round was opened"),
    ],
)
def test_what_grades_rest_on_stays_as_it_was(change, said):
    make_bench(queries=1)

    with pytest.raises(IntegrityError, match=said), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(change)


@pytest.mark.parametrize("state", ["open", "opening"])
def test_a_closed_round_stays_closed(state):
    bench = make_bench(queries=1)
    close_round(round_id=bench.round.pk, actor=bench.lead, at=AT)

    for change in (f"state = '{state}'", "closed_at = NULL"):
        with pytest.raises(IntegrityError, match="round"), transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(f"UPDATE judging_round SET {change}")


def test_a_scale_without_grades_may_change():
    project = make_project()

    Project.objects.filter(pk=project.pk).update(scale=[{"grade": 0, "label": "no"}, {"grade": 1, "label": "yes"}])

    project.refresh_from_db()
    assert len(project.scale) == 2
