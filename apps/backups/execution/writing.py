"""Writes a backup: rows at one moment, then the files that they name, and the manifest."""

from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from typing import BinaryIO

from django.conf import settings
from django.db import connection

from apps.backups.core.kinds import seal_keys
from apps.backups.core.rows import quoted
from apps.backups.formats.archive import ArchiveWriter, Manifest, StoredTable
from apps.backups.selectors.reading import Moment, applied_migrations, carried, moment, tables_after
from apps.common.errors import Refusal
from apps.common.files import store

Progress = Callable[[str, int, int], None]
"""Called with what is being copied, how much of it is done, and how much there is (0: unknown)."""

NAMED_FILES = "SELECT path FROM jobs_upload WHERE state <> 'discarded' ORDER BY path"


def silently(what: str, done: int, total: int) -> None:
    """Tells nobody how far it is."""


def write_backup(
    stream: BinaryIO,
    *,
    at: datetime,
    version: str,
    with_files: bool = True,
    passphrase: str = "",
    progress: Progress = silently,
) -> Manifest:
    """Write a backup to the stream, which need not be seekable, and return its manifest.

    Others go on writing meanwhile: the backup has what was committed when it began. With a passphrase it also has the
    server's keys, encrypted. Raises Refusal for an empty database, and for one that a newer Karat wrote.
    """
    migrations = applied_migrations()
    if not migrations:
        raise Refusal(
            "The database is empty, so there is nothing to back up. Is it the right one? See KARAT_DATA_DIR.",
            code="nothing_to_back_up",
        )
    archive = ArchiveWriter(stream)
    manifest = Manifest(version, at.isoformat(), database_name(), migrations, has_secrets=bool(passphrase))
    if with_files:
        _write_heads(archive, settings.AUDIT_HEADS)  # first: a chain may be longer than the record of its head
    with moment() as seen:
        _write_rows(archive, manifest, seen, progress)
        # Uploads are never changed. Those that are discarded from now on may be gone before they are copied.
        paths = [path for (path,) in seen.values(NAMED_FILES)] if with_files else []
    write_files(archive, manifest, paths, progress)
    if passphrase:
        archive.secrets(seal_keys(own_keys(), passphrase))
    archive.close(manifest)
    return manifest


def own_keys() -> Mapping[str, str]:
    """The keys of this server, by the names of their files in the data directory."""
    return {"secret-key": settings.SECRET_KEY, "audit-key": settings.AUDIT_KEY}


def database_name() -> str:
    """The kind of the database, as people call it."""
    return "PostgreSQL" if connection.vendor == "postgresql" else "SQLite"


def _write_rows(archive: ArchiveWriter, manifest: Manifest, seen: Moment, progress: Progress) -> None:
    tables = carried(tables_after(manifest.migrations))
    counts = {table.name: seen.values(f"SELECT COUNT(*) FROM {quoted(table.name)}")[0][0] for table in tables}
    done, total = 0, sum(counts.values())
    for table in tables:
        with archive.table(table) as writer:
            for rows in seen.parts(table):
                writer.write(rows)
                done += len(rows)
                progress("rows", done, total)
        manifest.tables[table.name] = StoredTable(table, writer.state, seen.next_key(table))


def write_files(archive: ArchiveWriter, manifest: Manifest, paths: list[str], progress: Progress) -> None:
    """Copy uploaded files. Those that are no longer there are named in the manifest."""
    for n, path in enumerate(paths, 1):
        try:
            with store.opened(path) as source:
                manifest.files[path] = archive.file(path, source)
        except FileNotFoundError:
            manifest.missing.append(path)
        progress("files", n, len(paths))


def _write_heads(archive: ArchiveWriter, folder: Path | None) -> None:
    for path in sorted(folder.glob("*.json")) if folder else ():
        archive.head(path.name, path.read_bytes())
