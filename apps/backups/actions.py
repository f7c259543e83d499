"""Making a backup, and restoring one into an empty database."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from datetime import datetime
from pathlib import Path
from typing import BinaryIO, NamedTuple

from django.conf import settings
from django.db import connection, transaction

from apps.backups.execution.loading import load_rows
from apps.backups.execution.writing import Progress, silently, write_backup
from apps.backups.formats.archive import Archive, Manifest
from apps.common.errors import Refusal
from apps.corpus.execution.search_index import index_everything

UNFINISHED = ".unfinished"
RESTORED_FROM = "restored from backup "


class Backup(NamedTuple):
    """A backup that was made."""

    path: Path
    size: int
    manifest: Manifest


def back_up(
    *,
    target: Path,
    at: datetime,
    with_files: bool = True,
    passphrase: str = "",
    progress: Progress = silently,
) -> Backup:
    """Write a backup to a file, or into a folder under a name with the time.

    The file appears when it is complete and on the disk, readable by its owner only. Nothing is overwritten. Raises
    Refusal where it cannot be written.
    """
    path = target / f"karat-{at:%Y%m%d-%H%M%S}.zip" if target.is_dir() else target
    if path.exists():
        raise Refusal(f"{path} exists already. Choose another name; nothing is overwritten.", code="backup_exists")
    try:
        with _appearing(path) as stream:
            manifest = write_backup(
                stream,
                at=at,
                version=settings.VERSION,
                with_files=with_files,
                passphrase=passphrase,
                progress=progress,
            )
        return Backup(path, path.stat().st_size, manifest)
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


def restore_database(*, archive: Archive, progress: Progress = silently, is_searchable: bool = True) -> None:
    """Fill the database of this process, which has to be empty, and upgrade it to this version.

    On PostgreSQL in one transaction. A database in which this very backup was restored is left as it is, so that who
    was interrupted after the end can do it again. Raises Refusal for any other that is not empty, for a damaged backup,
    and for one that a newer Karat wrote. Without `is_searchable` the search index is left out.
    """
    if connection.introspection.table_names():
        if _restored_digest() == archive.manifest.digest:
            return
        raise Refusal("The database is not empty. Nothing was restored: choose an empty one.", code="target_not_empty")
    with transaction.atomic() if connection.vendor == "postgresql" else nullcontext():
        load_rows(archive, progress=progress)
        if is_searchable:
            index_everything()
        if connection.vendor == "postgresql":
            with connection.cursor() as cursor:
                note = f"{RESTORED_FROM}{archive.manifest.digest}"
                cursor.execute(f"COMMENT ON TABLE django_migrations IS '{note}'")


def restore_files(*, archive: Archive, progress: Progress = silently) -> None:
    """Write the uploaded files, and the records of heads of audit chains that are not there yet.

    Raises NoBackup where one is damaged.
    """
    root, paths = Path(settings.MEDIA_ROOT), list(archive.manifest.files)
    for n, path in enumerate(paths, 1):
        target = root / path
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with _private(target) as stream:
            archive.copy_file(path, stream)
        progress("files restored", n, len(paths))
    folder: Path | None = settings.AUDIT_HEADS
    if folder is None:
        return
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for name, content in archive.heads().items():
        if not (folder / name).exists():
            with _private(folder / name) as stream:
                stream.write(content)


def _private(path: Path) -> BinaryIO:
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb")


def _restored_digest() -> str:
    if connection.vendor != "postgresql":
        return ""
    with connection.cursor() as cursor:
        cursor.execute("SELECT obj_description('django_migrations'::regclass)")
        [note] = cursor.fetchone()
    return (note or "").removeprefix(RESTORED_FROM)
