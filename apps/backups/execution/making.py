"""Writes a backup to a file that appears when it is complete, puts it on record, and removes the oldest ones."""

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import BinaryIO, NamedTuple

from django.conf import settings
from django.db import connection, transaction

from apps.audit.actions import record
from apps.backups.core.rows import Table, quoted
from apps.backups.core.secrets import seal_keys
from apps.backups.execution.places import ENDING, folder_and_name
from apps.backups.execution.verification import remove_abandoned
from apps.backups.formats.archive import ArchiveWriter, Manifest, StoredTable
from apps.backups.models import Backup
from apps.backups.selectors.reading import Moment, applied_migrations, carried, moment, tables_after
from apps.common.errors import Refusal
from apps.common.files import store
from apps.common.files.buckets import Bucket
from apps.jobs.enums import PASSING_UPLOADS

Progress = Callable[[str, int, int], None]
"""Called with what is being copied, how much of it is done, and how much there is (0: unknown)."""

KEPT_UPLOADS = "state <> 'discarded' AND kind NOT IN ('" + "', '".join(sorted(PASSING_UPLOADS)) + "')"
"""The condition of the uploads whose files any archive has."""
NAMED_FILES = f"SELECT path FROM jobs_upload WHERE {KEPT_UPLOADS} ORDER BY path"


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

    Others can write meanwhile: the backup has what was committed when it began. With a passphrase it also has the
    server's keys, encrypted. Raises Refusal for an empty database, and for one that is too old or of a newer Karat.
    """
    migrations = applied_migrations()
    if not migrations:
        raise Refusal(
            "The database is empty, so there is nothing to back up. Is it the right one? See KARAT_DATA_DIR.",
            code="nothing_to_back_up",
        )
    tables = carried(tables_after(migrations))
    archive = ArchiveWriter(stream)
    manifest = Manifest(version, at.isoformat(), database_name(), migrations, has_secrets=bool(passphrase))
    if with_files:
        _write_heads(archive, settings.AUDIT_HEADS)  # first: a chain may be longer than the record of its head
    with moment() as seen:
        _write_rows(archive, manifest, tables, seen, progress)
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


def _write_rows(
    archive: ArchiveWriter, manifest: Manifest, tables: list[Table], seen: Moment, progress: Progress
) -> None:
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


UNFINISHED = ".unfinished"
LEFT_FOR = timedelta(days=1)
OWN_NAME = re.compile(r"karat-\d{8}-\d{6}\.zip")
"""The names that backups in a folder get. Other files there are not ours."""


class WrittenBackup(NamedTuple):
    """A backup that was written to a file, of `size` bytes, or to a bucket: then `path` is its address there."""

    path: Path | str
    size: int
    manifest: Manifest


def _on_record(path: Path | str) -> str:
    """What the place of a backup is called on record: the whole path, or the address."""
    return path if isinstance(path, str) else str(path.resolve())


def make_backup(
    target: Path | str, *, at: datetime, with_files: bool = True, passphrase: str = "", progress: Progress = silently
) -> WrittenBackup:
    """Write a backup to a file, or into a folder under a name with the time; in a bucket where `target` is an address.

    The file appears when it is complete and on the disk, readable by its owner only. Nothing is overwritten. Raises
    Refusal where it cannot be written.
    """

    return write_to(
        target,
        f"karat-{at:%Y%m%d-%H%M%S}{ENDING}",
        lambda stream: write_backup(
            stream, at=at, version=settings.VERSION, with_files=with_files, passphrase=passphrase, progress=progress
        ),
    )


def write_to(target: Path | str, own_name: str, write: Callable[[BinaryIO], Manifest]) -> WrittenBackup:
    """What `write` writes, as a file that is complete; in a folder it gets its own name. Raises Refusal."""
    if isinstance(target, str):
        bucket, name = folder_and_name(target)
        name = name or own_name
        with bucket.appearing(name) as stream:
            manifest = write(stream)
        return WrittenBackup(bucket.address_of(name), bucket.size(name) or 0, manifest)
    path = target / own_name if target.is_dir() else target
    if path.exists():
        raise Refusal(f"{path} exists already. Choose another name; nothing is overwritten.", code="backup_exists")
    try:
        with _appearing(path) as stream:
            manifest = write(stream)
        return WrittenBackup(path, path.stat().st_size, manifest)
    except OSError as problem:
        raise Refusal(f"{path} cannot be written: {problem.strerror}.", code="backup_not_written") from None


@contextmanager
def _appearing(path: Path) -> Iterator[BinaryIO]:
    unfinished = path.with_name(path.name + UNFINISHED)
    handle = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        with os.fdopen(handle, "wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        unfinished.rename(path)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise


def remove_oldest(folder: Path | str, *, keep: int, at: datetime) -> list[Path | str]:
    """Keep the newest `keep` backups of a folder, by their names, and return those that were removed.

    Half a file, which an interrupted backup has left on a disk, is removed a day later.
    """
    if isinstance(folder, str):
        return _remove_oldest_there(Bucket(folder), keep)
    there = sorted(folder.iterdir())
    removed = [path for path in there if OWN_NAME.fullmatch(path.name)][:-keep]
    long_ago = (at - LEFT_FOR).timestamp()
    for path in there:
        is_half = path.name.endswith(UNFINISHED) and OWN_NAME.fullmatch(path.name.removesuffix(UNFINISHED))
        if path in removed or (is_half and path.stat().st_mtime < long_ago):
            path.unlink(missing_ok=True)
    remove_abandoned(folder)
    return [*removed]


def _remove_oldest_there(bucket: Bucket, keep: int) -> list[Path | str]:
    old = [name for name in bucket.names() if OWN_NAME.fullmatch(name)][:-keep]
    for name in old:
        bucket.remove(name)
    return [bucket.address_of(name) for name in old]


@transaction.atomic
def note_backup(*, backup: WrittenBackup, at: datetime, job_id: int | None = None, is_verified: bool = False) -> Backup:
    """Put a backup on record, so that people see how old the last good one is.

    One on record with the same path is gone: somebody has removed its file, since nothing is overwritten.
    """
    note_removed(paths=[backup.path], at=at)
    manifest = backup.manifest
    made = Backup.objects.create(
        path=_on_record(backup.path),
        made_at=manifest.made_at,
        size=backup.size,
        rows=manifest.rows,
        digest=manifest.digest,
        verified_at=at if is_verified else None,
        job_id=job_id,
    )
    after = {"size": made.size, "rows": made.rows, "digest": made.digest, "verified": is_verified}
    record(project=None, actor=None, action="backup.made", obj=made, after=after, at=at)
    return made


@transaction.atomic
def note_removed(*, paths: Sequence[Path | str], at: datetime) -> None:
    """Put on record that these files were removed."""
    there = Backup.objects.select_for_update().filter(removed_at=None)
    for gone in there.filter(path__in=[_on_record(path) for path in paths]):
        gone.removed_at = at
        gone.save(update_fields=["removed_at"])
        record(project=None, actor=None, action="backup.removed", obj=gone, at=at)
