"""The rows of the database at one moment, read while others write.

A connection of its own sees the database as it was when it began to read, and holds no lock that a writer waits for. On
SQLite the log of writes grows until it is closed.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import quote

from django.db import connection

from apps.backups.core.kinds import FROM_POSTGRESQL, FROM_SQLITE, Kind
from apps.backups.core.rows import Column, Table, converted, converters, quoted

if TYPE_CHECKING:
    import psycopg

AT_ONCE = 1_000


class Moment(Protocol):
    """The database at one moment."""

    def parts(self, table: Table, where: str = "") -> Iterator[list[list[Any]]]:
        """The rows of a table in the order of keys, in the common form, some hundred at a time; of those that fulfil
        the condition, which is SQL of ours."""

    def next_key(self, table: Table) -> int:
        """The key that the next row of a table will have at least; 1 where keys are not numbered."""

    def values(self, statement: str) -> list[Any]:
        """What a SELECT returns; one that both databases understand."""


@contextmanager
def moment() -> Iterator[Moment]:
    """The database as it is now, for as long as the block lasts."""
    with _postgresql() if connection.vendor == "postgresql" else _sqlite() as seen:
        yield seen


@contextmanager
def moment_within() -> Iterator[Moment]:
    """The database as the open transaction sees it, on PostgreSQL; what is committed, on SQLite."""
    if connection.vendor == "postgresql":
        connection.ensure_connection()
        yield PostgresqlMoment(connection.connection)
    else:
        with _sqlite() as seen:
            yield seen


@contextmanager
def _sqlite() -> Iterator[Moment]:
    address = f"file:{quote(str(connection.settings_dict['NAME']))}?mode=ro"
    with closing(sqlite3.connect(address, uri=True, isolation_level=None)) as own:
        own.execute("PRAGMA temp_store=FILE")
        own.execute("BEGIN")
        own.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchall()  # from here on nothing changes
        yield SqliteMoment(own)


@contextmanager
def _postgresql() -> Iterator[Moment]:
    import psycopg  # some megabytes of each process, for nothing on SQLite

    params = {**connection.get_connection_params(), "cursor_factory": psycopg.Cursor, "autocommit": False}
    params.pop("context", None)  # Django's own, which returns texts for types that we convert
    with closing(psycopg.connect(**params)) as own:
        own.isolation_level, own.read_only = psycopg.IsolationLevel.REPEATABLE_READ, True
        own.execute("SET LOCAL TIME ZONE 'UTC'")
        own.execute("SELECT 1")
        yield PostgresqlMoment(own)


class SqliteMoment:
    def __init__(self, own: sqlite3.Connection) -> None:
        self._own = own

    def parts(self, table: Table, where: str = "") -> Iterator[list[list[Any]]]:
        how = converters(table, FROM_SQLITE)
        cursor = self._own.execute(_select(table, [quoted(column.name) for column in table.columns], where))
        while rows := cursor.fetchmany(AT_ONCE):
            yield converted(rows, how)

    def next_key(self, table: Table) -> int:
        found = self._own.execute("SELECT seq FROM sqlite_sequence WHERE name = ?", [table.name]).fetchone()
        return found[0] + 1 if found else 1

    def values(self, statement: str) -> list[Any]:
        return self._own.execute(statement).fetchall()


class PostgresqlMoment:
    def __init__(self, own: "psycopg.Connection[Any]") -> None:
        self._own = own

    def parts(self, table: Table, where: str = "") -> Iterator[list[list[Any]]]:
        how = converters(table, FROM_POSTGRESQL)
        with self._own.cursor(name="backup") as cursor:
            cursor.itersize = AT_ONCE
            cursor.execute(_select(table, [_read(column) for column in table.columns], where))
            while rows := cursor.fetchmany(AT_ONCE):
                yield converted(rows, how)

    def next_key(self, table: Table) -> int:
        place = [quoted(table.name), table.key]
        [(sequence,)] = self._own.execute("SELECT pg_get_serial_sequence(%s, %s)", place).fetchall()
        if sequence is None:
            return 1
        [(key,)] = self._own.execute(f"SELECT last_value + is_called::int FROM {sequence}").fetchall()
        return int(key)

    def values(self, statement: str) -> list[Any]:
        return self._own.execute(statement).fetchall()


def _select(table: Table, columns: list[str], where: str) -> str:
    condition = f" WHERE {where}" if where else ""
    return f"SELECT {', '.join(columns)} FROM {quoted(table.name)}{condition} ORDER BY {quoted(table.key)}"


def _read(column: Column) -> str:
    """JSON as text: its numbers are read in our own way."""
    return f"{quoted(column.name)}::text" if column.kind == Kind.JSON else quoted(column.name)
