"""`karat restore`: a data directory or a database from a backup, complete or not at all.

An SQLite file is built under another name and renamed at the end; PostgreSQL is filled in one transaction. A data
directory has the file `restoring` from the first step to the last: with it Karat does not start there, and the same
command may be run again, however the first was ended.
"""

import os
import shutil
import sqlite3
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import dj_database_url

from apps.backups.core.secrets import WrongPassphrase, unseal_keys
from apps.backups.edges.passphrase import read_passphrase
from apps.backups.formats.archive import Archive
from apps.common.errors import Refusal
from apps.common.files.private import KEYS, SQLITE_SUFFIXES, UNFINISHED_RESTORE
from apps.config.up import UpRefused, lock_data_dir, prepare_data_dir

OK, FAULT = 0, 2
BUILDING = ".restoring"
MADE_AGAIN = frozenset({"static", "up.lock", "lost+found", UNFINISHED_RESTORE})
"""What may lie in a data directory that counts as empty."""
MADE_BY_RESTORE = ("files", "audit-heads", "figures", *KEYS, UNFINISHED_RESTORE)
VARIABLES = {"secret-key": "SECRET_KEY", "audit-key": "KARAT_AUDIT_KEY"}

Say = Callable[[str], None]


class Wanted(NamedTuple):
    """What to restore, and whereto. Without `is_searchable` there is no search index: enough to verify a backup."""

    path: Path
    data_dir: Path
    database_only: bool = False
    passphrase_file: Path | None = None
    is_searchable: bool = True


def restore(wanted: Wanted, *, say: Say) -> int:
    """Returns 0, or 2 where it cannot be done: the reason is on standard error, and the target is as it was."""
    try:
        with Archive(wanted.path) as archive:
            if wanted.database_only:
                _restore_database(archive, wanted, place=_sqlite_file(wanted.data_dir))
            else:
                _restore_all(archive, wanted, say)
            manifest = archive.manifest
    except (Refusal, UpRefused) as refusal:
        print(refusal, file=sys.stderr)
        return FAULT
    files = "" if wanted.database_only else f" and {len(manifest.files):,} files"
    say(f"Restored: {manifest.rows:,} rows{files}, as they were at {manifest.made_at} (digest {manifest.digest[:12]}).")
    return OK


def _restore_all(archive: Archive, wanted: Wanted, say: Say) -> None:
    folder, place = wanted.data_dir, _sqlite_file(wanted.data_dir)
    keys = _keys(archive, read_passphrase(wanted.passphrase_file))
    _check_empty(folder, archive)
    prepare_data_dir(folder)
    with lock_data_dir(folder):
        marker = folder / UNFINISHED_RESTORE
        if marker.exists() and place is not None and place.exists():  # only the last step was missing
            marker.unlink()
            return
        marker.write_text(archive.manifest.digest)
        os.sync()
        try:
            for name, key in keys.items():
                _write_private(folder / name, key)
            _restore_database(archive, wanted, place=place, finish=marker.unlink, with_files=True)
        except Refusal:
            _leave(folder)
            raise
    for line in _what_about_keys(archive, keys):
        say(line)


def _restore_database(
    archive: Archive,
    wanted: Wanted,
    *,
    place: Path | None,
    finish: Callable[[], None] = lambda: None,
    with_files: bool = False,
) -> None:
    """`place` is where an SQLite file has to be in the end; None on PostgreSQL."""
    building = None
    if place is not None:
        if place.exists() and place.stat().st_size:
            raise Refusal(f"{place} exists. Nothing was restored: choose an empty place.", code="target_not_empty")
        building = place.with_name(place.name + BUILDING)
        _remove(building)
        os.environ["DATABASE_URL"] = f"sqlite:///{building}"
    import django

    django.setup()
    from django.db import DatabaseError, connections

    from apps.backups.actions import restore_database, restore_files
    from apps.backups.edges.progress import ProgressLine

    progress = ProgressLine()
    try:
        if with_files:
            restore_files(archive=archive, progress=progress)
        restore_database(archive=archive, progress=progress, is_searchable=wanted.is_searchable)
    except DatabaseError as problem:
        raise Refusal(f"The database does not take it. Nothing was restored. {problem}", code="database_away") from None
    finally:
        progress.end()
        connections.close_all()
    if building is not None and place is not None:
        with closing(sqlite3.connect(building)) as own:
            own.execute("PRAGMA wal_checkpoint(TRUNCATE)")  # what is in its log would not be renamed with it
        os.sync()
        building.rename(place)
    finish()
    os.sync()


def _remove(database: Path) -> None:
    for suffix in SQLITE_SUFFIXES:
        database.with_name(database.name + suffix).unlink(missing_ok=True)


def _leave(folder: Path) -> None:
    """Remove what the restore has made: the folder was empty before."""
    for name in MADE_BY_RESTORE:
        shutil.rmtree(folder / name) if (folder / name).is_dir() else (folder / name).unlink(missing_ok=True)
    for path in folder.glob(f"*{BUILDING}*"):
        path.unlink()


def _check_empty(folder: Path, archive: Archive) -> None:
    there = {path.name for path in folder.iterdir()} if folder.is_dir() else set()
    if UNFINISHED_RESTORE in there:
        if (folder / UNFINISHED_RESTORE).read_text() not in {"", archive.manifest.digest}:
            raise Refusal(
                f"Another backup was being restored into {folder}. Finish that one, or choose another folder with "
                "--data-dir.",
                code="target_not_empty",
            )
    elif there - MADE_AGAIN:
        raise Refusal(
            f"{folder} is not empty. Nothing was restored: choose another one with --data-dir, or move what is there "
            "away.",
            code="target_not_empty",
        )


def _sqlite_file(data_dir: Path) -> Path | None:
    url = os.environ.get("DATABASE_URL", "")
    if not url:
        return data_dir / "karat.sqlite3"
    config = dj_database_url.parse(url)
    return Path(str(config["NAME"])) if config["ENGINE"].endswith("sqlite3") else None


def _keys(archive: Archive, passphrase: str) -> dict[str, str]:
    if not archive.manifest.has_secrets or not passphrase:
        return {}
    try:
        return unseal_keys(archive.secrets(), passphrase)
    except WrongPassphrase:
        raise Refusal("The passphrase is wrong. Nothing was restored.", code="wrong_passphrase") from None


def _what_about_keys(archive: Archive, keys: dict[str, str]) -> list[str]:
    if keys:
        from_elsewhere = [name for name, variable in VARIABLES.items() if os.environ.get(variable)]
        return [f"{VARIABLES[name]} is set, and counts instead of the restored {name}." for name in from_elsewhere]
    if archive.manifest.has_secrets:
        return ["The keys of the server were not restored: give their passphrase with --passphrase-file."]
    return [
        "The backup has no keys of the server. Put secret-key and audit-key back (or SECRET_KEY and KARAT_AUDIT_KEY); "
        "or enter the secrets of projects again, and run `karat verify-audit --sign`."
    ]


def _write_private(path: Path, text: str) -> None:
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as stream:
        stream.write(f"{text}\n")
