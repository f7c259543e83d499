"""Fills an empty database from a backup, without the triggers that guard each row.

Triggers guard against what people do, and some write rows of their own, which the backup has already. Once the rows are
there the triggers are back; every digest is compared, and every reference checked. Only an empty database is filled, so
nobody can change guarded rows in this way.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from django.db import connection, transaction
from django.db.migrations.executor import MigrationExecutor

from apps.backups.core.rows import TO_POSTGRESQL, TO_SQLITE, Kind, Lines, Rows, Table, converted, converters, quoted
from apps.backups.execution.making import Progress
from apps.backups.formats.archive import Archive, Manifest, NoBackup
from apps.backups.selectors.reading import carried, ends_of, moment_within, tables_after
from apps.common.errors import Refusal

REFERENCES = """
SELECT conrelid::regclass::text, quote_ident(conname), pg_get_constraintdef(oid) FROM pg_constraint
 WHERE contype = 'f' AND connamespace = current_schema()::regnamespace ORDER BY conname
"""


@contextmanager
def without_triggers(tables: Sequence[str]) -> Iterator[None]:
    """The triggers on rows of these tables do not run within the block, and references are checked at its end.

    Nobody else sees the database without them: until the end of the transaction others read it as it was, and whoever
    writes to these tables waits. Raises IntegrityError for a reference to nothing.
    """
    if connection.vendor == "sqlite":
        with _dropped_on_sqlite():
            yield
    else:
        with transaction.atomic(), _disabled_on_postgresql(tables), _references_made_anew():
            yield


@contextmanager
def _dropped_on_sqlite() -> Iterator[None]:
    is_off = connection.disable_constraint_checking()
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'")
            triggers = cursor.fetchall()
            for name, _ in triggers:
                cursor.execute(f"DROP TRIGGER {quoted(name)}")
            yield
            for _, statement in triggers:
                cursor.execute(statement)
            connection.check_constraints()
    finally:
        if is_off:
            connection.enable_constraint_checking()


@contextmanager
def _disabled_on_postgresql(tables: Sequence[str]) -> Iterator[None]:
    with connection.cursor() as cursor:
        for name in tables:
            cursor.execute(f"ALTER TABLE {quoted(name)} DISABLE TRIGGER USER")
        yield
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")  # a table with checks to come is not altered
        for name in tables:
            cursor.execute(f"ALTER TABLE {quoted(name)} ENABLE TRIGGER USER")
        cursor.execute("SET CONSTRAINTS ALL DEFERRED")


@contextmanager
def _references_made_anew() -> Iterator[None]:
    """Whole tables are compared: row by row it takes many times as long."""
    with connection.cursor() as cursor:
        cursor.execute(REFERENCES)
        references = cursor.fetchall()
        for table, name, _ in references:
            cursor.execute(f"ALTER TABLE {table} DROP CONSTRAINT {name}")
        yield
        for table, name, definition in references:
            cursor.execute(f"ALTER TABLE {table} ADD CONSTRAINT {name} {definition}")


def tables_of(archive: Archive) -> list[Table]:
    """The tables of a database of the backup's version, as this one knows them.

    Raises NoBackup where one of the backup's is another: its names would go into statements. Raises Refusal where a
    newer Karat wrote it.
    """
    manifest = archive.manifest
    known = tables_after(manifest.migrations)
    stored = {name: each.table for name, each in manifest.tables.items()}
    others = stored.keys() - {table.name for table in known}
    others |= {table.name for table in known if stored.get(table.name, table) != table}
    others |= {table.name for table in carried(known)} - stored.keys()
    if others:
        raise NoBackup(
            f"{archive.path} is damaged or forged: its table {min(others)} is not that of Karat {manifest.karat}. "
            "Nothing was restored.",
            code="backup_damaged",
        )
    return known


def load_rows(archive: Archive, tables: list[Table], *, progress: Progress) -> None:
    """Create `tables`, which are `tables_of` the backup, fill them, compare every digest, and upgrade to this version.

    On PostgreSQL within the transaction of the caller, on SQLite in a file that nobody else uses yet. Raises NoBackup
    where the backup is damaged.
    """
    manifest = archive.manifest
    filled = [table for table in tables if table.name in manifest.tables]
    _migrate(ends_of(manifest.migrations))
    with without_triggers([table.name for table in tables]):
        _empty(tables)
        done = 0
        for table in filled:
            for rows in _fill(archive, table):
                done += rows
                progress("rows restored", done, manifest.rows)
    _compare(manifest, filled, progress)
    _migrate(MigrationExecutor(connection).loader.graph.leaf_nodes())


def _fill(archive: Archive, table: Table) -> Iterator[int]:
    """Insert the rows of a table, and yield how many each time. Raises NoBackup for more than the manifest has."""
    stored = archive.manifest.tables[table.name]
    place = [column.name for column in table.columns].index(table.key)
    done, next_key = 0, stored.next_key
    for rows in archive.parts(table):
        done += len(rows)
        if done > stored.state.rows:
            raise archive.damaged(f"the table {table.name}")
        try:
            _insert(table, rows)
        except ValueError as problem:
            raise archive.damaged(f"the table {table.name}") from problem
        if table.columns[place].kind == Kind.INTEGER:
            next_key = max(next_key, rows[-1][place] + 1)
        yield len(rows)
    _set_next_key(table, next_key)


def _migrate(ends: list[tuple[str, str]]) -> None:
    MigrationExecutor(connection).migrate(ends)


def _compare(manifest: Manifest, tables: list[Table], progress: Progress) -> None:
    """Read all rows again. Raises Refusal that names the first table whose rows are not those of the backup."""
    done = 0
    with moment_within() as seen:
        for table in tables:
            lines, wanted = Lines(table), manifest.tables[table.name].state
            for rows in seen.parts(table):
                lines.of(rows)
                done += len(rows)
                progress("rows compared", done, manifest.rows)
            if lines.state != wanted:
                raise Refusal(
                    f"The table {table.name} has {lines.rows:,} rows that are not the {wanted.rows:,} of the backup. "
                    "Nothing was restored.",
                    code="restored_differs",
                )


def _empty(tables: list[Table]) -> None:
    """Delete what the migrations wrote."""
    with connection.cursor() as cursor:
        for table in tables:
            cursor.execute(f"DELETE FROM {quoted(table.name)}")


def _insert(table: Table, rows: Rows) -> None:
    """Insert rows in the common form. Raises ValueError for a value that has not."""
    name, columns = quoted(table.name), ", ".join(quoted(column.name) for column in table.columns)
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            values = converted(rows, converters(table, TO_POSTGRESQL))
            with connection.wrap_database_errors, cursor.cursor.copy(f"COPY {name} ({columns}) FROM STDIN") as copy:
                for row in values:
                    copy.write_row(row)
            return
        places = ", ".join(["%s"] * len(table.columns))
        values = converted(rows, converters(table, TO_SQLITE))
        cursor.executemany(f"INSERT INTO {name} ({columns}) VALUES ({places})", values)


def _set_next_key(table: Table, next_key: int) -> None:
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SELECT pg_get_serial_sequence(%s, %s)", [quoted(table.name), table.key])
            [sequence] = cursor.fetchone()
            if sequence:
                cursor.execute("SELECT setval(%s::regclass, %s, false)", [sequence, next_key])
        elif next_key > 1:
            cursor.execute("DELETE FROM sqlite_sequence WHERE name = %s", [table.name])
            cursor.execute("INSERT INTO sqlite_sequence (name, seq) VALUES (%s, %s)", [table.name, next_key - 1])
