"""Making a backup, and restoring one with its files into an empty database."""

from contextlib import nullcontext
from datetime import datetime
from pathlib import Path

from django.conf import settings
from django.db import connection, transaction

from apps.accounts.models import User
from apps.backups.enums import BACK_UP
from apps.backups.execution.loading import load_rows, tables_of
from apps.backups.execution.making import Progress, WrittenBackup, make_backup, note_backup, silently
from apps.backups.execution.places import refuse_target
from apps.backups.execution.verification import Verified, scratch_beside, verify_backup
from apps.backups.formats.archive import Archive
from apps.backups.selectors.reading import applied_migrations
from apps.common.errors import Forbidden, Refusal
from apps.common.files import store
from apps.common.files.private import whole_file
from apps.corpus.execution.search_index import index_everything
from apps.jobs.actions.jobs import enqueue
from apps.jobs.models import Job

RECORDS = ("backups", "0001_initial")
RESTORED_FROM = "restored from backup "


def back_up(
    *, target: Path | str, at: datetime, passphrase: str = "", verify: bool = False, progress: Progress = silently
) -> tuple[WrittenBackup, Verified | None]:
    """Make a backup, verify it where that is wanted, and put it on record.

    Raises Refusal where it cannot be written, or where it does not hold: then it is on record as not verified.
    """
    refuse_target(target)
    backup = make_backup(target, at=at, passphrase=passphrase, progress=progress)
    verified, refused = None, None
    if verify:
        try:
            verified = verify_backup(backup.path, passphrase=passphrase, scratch=scratch_beside(backup.path))
        except Refusal as refusal:
            refused = refusal
    if RECORDS in applied_migrations():  # before an upgrade there may be no place for it
        note_backup(backup=backup, at=at, is_verified=verified is not None)
    if refused:
        raise refused
    return backup, verified


@transaction.atomic
def request_backup(*, actor: User, at: datetime) -> Job:
    """Queue the backup that a worker makes on its schedule, before its time, unless one waits or runs."""
    if not actor.is_operator:
        raise Forbidden("Only an operator can make a backup: it has everything of every project.")
    if not settings.BACKUP_TO:
        raise Refusal("No folder is set. Set KARAT_BACKUP_TO and start Karat again.", code="no_backup_folder")
    waiting = Job.objects.open().filter(kind=BACK_UP).first()
    return waiting or enqueue(kind=BACK_UP, params={}, project=None, actor=actor, at=at)


def restore(
    *,
    archive: Archive,
    with_files: bool,
    progress: Progress = silently,
    is_searchable: bool = True,
    may_be_there: bool = False,
) -> None:
    """Write the uploaded files, fill the database of this process, which has to be empty, and upgrade it.

    On PostgreSQL in one transaction. With `may_be_there` one in which this very backup was restored is left as it is:
    for who was interrupted after its end, and knows that nobody has used it since. Raises Refusal for any other that is
    not empty, for a damaged or forged backup before anything is written, and for one that a newer Karat wrote. Without
    `is_searchable` the search index is left out.
    """
    tables = tables_of(archive)
    if with_files:
        _restore_files(archive, progress)
    if there := connection.introspection.table_names():
        if may_be_there and "django_migrations" in there and _restored_digest() == archive.manifest.digest:
            return
        raise Refusal("The database is not empty. Nothing was restored: choose an empty one.", code="target_not_empty")
    with transaction.atomic() if connection.vendor == "postgresql" else nullcontext():
        load_rows(archive, tables, progress=progress)
        if is_searchable:
            index_everything()
        if connection.vendor == "postgresql":
            with connection.cursor() as cursor:
                note = f"{RESTORED_FROM}{archive.manifest.digest}"
                cursor.execute(f"COMMENT ON TABLE django_migrations IS '{note}'")


def _restore_files(archive: Archive, progress: Progress) -> None:
    """Write the uploaded files, and the records of heads of audit chains that are not there yet.

    Raises NoBackup where one is damaged, and BucketAway where hosts share a store that does not take it.
    """
    paths = list(archive.manifest.files)
    for n, path in enumerate(paths, 1):
        place = store.path_of(path)
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        place.unlink(missing_ok=True)  # from an attempt that was interrupted
        place.touch(mode=0o600)
        with place.open("wb") as stream:
            archive.copy_file(path, stream)
        store.keep(path)
        progress("files restored", n, len(paths))
    folder: Path | None = settings.AUDIT_HEADS
    if folder is None:
        return
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for name, content in archive.heads():
        if not (folder / name).exists():
            with whole_file(folder / name) as stream:
                stream.write(content)


def _restored_digest() -> str:
    if connection.vendor != "postgresql":
        return ""
    with connection.cursor() as cursor:
        cursor.execute("SELECT obj_description('django_migrations'::regclass)")
        [note] = cursor.fetchone()
    return (note or "").removeprefix(RESTORED_FROM)
