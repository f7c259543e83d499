"""The tables and rows of the database at one moment, read while others write.

A connection of its own sees the database as it was when it began to read, and holds no lock that a writer waits for. On
SQLite the log of writes grows until it is closed.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import quote

from django.db import connection, models
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

from apps.backups.core.rows import FROM_POSTGRESQL, FROM_SQLITE, Column, Kind, Table, converted, converters, quoted
from apps.common.database.schema import refuse_older, renamed
from apps.common.errors import Refusal

if TYPE_CHECKING:
    import psycopg

PASSING = frozenset(
    {"django_session", "accounts_visit", "jobs_workerbeat", "accounts_loginattempt", "accounts_usedstate"}
)
"""Tables whose rows mean nothing elsewhere: sessions, which worker lives, attempts to sign in."""

KINDS = {
    "AutoField": Kind.INTEGER, "BigAutoField": Kind.INTEGER, "BigIntegerField": Kind.INTEGER,
    "IntegerField": Kind.INTEGER, "PositiveBigIntegerField": Kind.INTEGER, "PositiveIntegerField": Kind.INTEGER,
    "PositiveSmallIntegerField": Kind.INTEGER, "SmallIntegerField": Kind.INTEGER, "SmallAutoField": Kind.INTEGER,
    "CharField": Kind.TEXT, "TextField": Kind.TEXT, "SlugField": Kind.TEXT,
    "BooleanField": Kind.BOOLEAN, "DateTimeField": Kind.TIME, "DateField": Kind.DATE,
    "FloatField": Kind.REAL, "JSONField": Kind.JSON,
    "GenericIPAddressField": Kind.TEXT, "BinaryField": Kind.BYTES, "DecimalField": Kind.DECIMAL, "UUIDField": Kind.UUID,
}  # fmt: skip


def applied_migrations() -> list[tuple[str, str]]:
    """The migrations that the database has, as pairs of app and name, in their order; none for an empty one."""
    return sorted(MigrationRecorder(connection).applied_migrations())


def tables_after(migrations: list[tuple[str, str]]) -> list[Table]:
    """The tables of a database with these migrations, by name.

    They need not be those of this version: a backup before an upgrade is made by the version that upgrades. Raises
    Refusal where this version does not know one of them, since the database is from a newer one, or it is too old.
    """
    refuse_older(migrations)
    graph = MigrationLoader(None).graph
    if unknown := [f"{app} {name}" for app, name in sorted(renamed(migrations) - graph.nodes.keys())]:
        raise Refusal(
            f"A newer Karat wrote this data ({unknown[-1]}). Install that version, or one that is newer still.",
            code="schema_newer",
        )
    state = graph.make_state(nodes=ends_of(migrations))
    models_then = state.apps.get_models(include_auto_created=True)
    tables = [_table(model) for model in models_then if model._meta.managed and not model._meta.proxy]
    return sorted(tables)


def carried(tables: list[Table]) -> list[Table]:
    """Of the tables those that a backup contains."""
    return [table for table in tables if table.name not in PASSING]


def ends_of(migrations: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Of these migrations the last of each app, to migrate to. Names begin with their number."""
    return [*{app: (app, name) for app, name in sorted(renamed(migrations))}.values()]


def _table(model: type[models.Model]) -> Table:
    options = model._meta
    columns = [Column(field.column, _kind(field)) for field in options.concrete_fields if field.column]
    assert options.pk is not None
    assert options.pk.column is not None
    return Table(options.db_table, options.pk.column, tuple(columns))


def _kind(field: models.Field) -> Kind:
    while isinstance(field, models.ForeignKey):
        field = field.target_field
    return KINDS[field.get_internal_type()]


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
