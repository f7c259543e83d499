"""Fills an empty database from a backup, with the triggers that watch over each row set aside.

They watch over what people do, and some write rows of their own, which the backup has already. Here every row has
passed them once. When the rows are there the triggers are too; every digest is compared, and every reference checked. A
database with rows is never filled, so this is no way round them.
"""

from collections.abc import Iterable
from typing import Any

from django.db import connection

from apps.backups.core.kinds import TO_POSTGRESQL, TO_SQLITE
from apps.backups.core.rows import Lines, Table, converted, converters
from apps.backups.execution.unwatched import unwatched
from apps.backups.execution.writing import Progress
from apps.backups.formats.archive import Archive, Manifest, NoBackup, StoredTable
from apps.backups.selectors.reading import moment_within
from apps.backups.selectors.tables import ends_of, tables_after
from apps.common.database.bulk import chunks
from apps.common.database.on_demand import Executor
from apps.common.errors import Refusal

AT_ONCE = 1_000


def load_rows(archive: Archive, *, progress: Progress) -> None:
    """Create the tables as the backup had them, fill them, compare every digest, and upgrade them to this version.

    On PostgreSQL within the transaction of the caller, on SQLite in a file that nobody else uses yet. Raises NoBackup
    where the backup is damaged, and Refusal where a newer Karat wrote it.
    """
    manifest = archive.manifest
    tables = tables_after(manifest.migrations)
    if not {stored.table for stored in manifest.tables.values()} <= set(tables):
        raise NoBackup(f"{archive.path} has other tables than its version of Karat.", code="backup_damaged")
    _migrate(ends_of(manifest.migrations))
    with unwatched([table.name for table in tables]):
        _empty(tables)
        done = 0
        for stored in manifest.tables.values():
            for rows in chunks(archive.rows(stored.table.name), AT_ONCE):
                _insert(stored.table, rows)
                done += len(rows)
                progress("rows restored", done, manifest.rows)
            _set_next_key(stored)
    _compare(manifest, progress)
    _migrate(Executor(connection).loader.graph.leaf_nodes())


def _migrate(ends: list[tuple[str, str]]) -> None:
    Executor(connection).migrate(ends)


def _compare(manifest: Manifest, progress: Progress) -> None:
    """Read all rows again. Raises Refusal that names the first table whose rows are not those of the backup."""
    done = 0
    with moment_within() as seen:
        for stored in manifest.tables.values():
            lines = Lines(stored.table)
            for rows in seen.parts(stored.table):
                lines.of(rows)
                done += len(rows)
                progress("rows compared", done, manifest.rows)
            if lines.state != stored.state:
                raise Refusal(
                    f"The table {stored.table.name} has {lines.rows:,} rows that are not the {stored.state.rows:,} of "
                    "the backup. Nothing was restored.",
                    code="restored_differs",
                )


def _empty(tables: list[Table]) -> None:
    """Delete what the migrations wrote."""
    with connection.cursor() as cursor:
        for table in tables:
            cursor.execute(f'DELETE FROM "{table.name}"')


def _insert(table: Table, rows: Iterable[list[Any]]) -> None:
    """Insert rows in the common form."""
    names = ", ".join(f'"{column.name}"' for column in table.columns)
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            values = converted(rows, converters(table, TO_POSTGRESQL))
            with (
                connection.wrap_database_errors,
                cursor.cursor.copy(f'COPY "{table.name}" ({names}) FROM STDIN') as copy,
            ):
                for row in values:
                    copy.write_row(row)
            return
        places = ", ".join(["%s"] * len(table.columns))
        values = converted(rows, converters(table, TO_SQLITE))
        cursor.executemany(f'INSERT INTO "{table.name}" ({names}) VALUES ({places})', values)


def _set_next_key(stored: StoredTable) -> None:
    name, key = stored.table.name, stored.table.key
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SELECT pg_get_serial_sequence(%s, %s)", [f'"{name}"', key])
            [sequence] = cursor.fetchone()
            if sequence:
                cursor.execute("SELECT setval(%s::regclass, %s, false)", [sequence, stored.next_key])
        elif stored.next_key > 1:
            cursor.execute("DELETE FROM sqlite_sequence WHERE name = %s", [name])
            cursor.execute("INSERT INTO sqlite_sequence (name, seq) VALUES (%s, %s)", [name, stored.next_key - 1])
