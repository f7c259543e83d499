"""`karat restore`: a data directory or a database from a backup, complete or not at all.

An SQLite file is built under another name and renamed at the end; PostgreSQL is filled in one transaction. A data
directory has the file `restoring` from the first step to the last: with it nothing else of Karat runs there, and the
same command may be run again, however the first was ended.
"""

import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing, nullcontext
from pathlib import Path
from typing import NamedTuple

import dj_database_url

from apps.backups.core.secrets import WrongPassphrase, unseal_keys
from apps.backups.execution.places import opened
from apps.backups.formats.archive import Archive
from apps.backups.management.console import read_passphrase
from apps.common.errors import Refusal
from apps.common.files.private import HOST, KEYS, SQLITE_SUFFIXES, UNFINISHED_RESTORE, restore_here, whole_file
from apps.config.moved import forget_move, is_own, own_database
from apps.config.up import lock_data_dir, prepare_data_dir

BUILDING = ".restoring"
COMPLETE = "complete"
"""What the file `restoring` says when everything is there, and only the database has to be renamed."""
MADE_AGAIN = frozenset({"static", "up.lock", "lost+found", "figures", "broker", "incoming", HOST, *KEYS})
MADE_AGAIN |= {f"karat.sqlite3{suffix}" for suffix in SQLITE_SUFFIXES}
"""What may lie in a data directory that counts as empty: any command makes keys and a database without tables."""
MADE_BY_RESTORE = ("files", "audit-heads", "figures", *KEYS, UNFINISHED_RESTORE)
VARIABLES = {"secret-key": "SECRET_KEY", "audit-key": "KARAT_AUDIT_KEY"}

Say = Callable[[str], None]


class Wanted(NamedTuple):
    """What to restore, and whereto. Without `is_searchable` there is no search index: enough to verify a backup."""

    path: Path | str
    data_dir: Path
    database_only: bool = False
    passphrase_file: Path | None = None
    leaves_secrets: bool = False
    is_searchable: bool = True


def restore(wanted: Wanted, *, say: Say) -> None:
    """Raises Refusal where it cannot be done: the target is then as it was."""
    in_bucket = opened(wanted.path) if isinstance(wanted.path, str) else nullcontext()
    with in_bucket as stream, Archive(wanted.path, stream) as archive:
        if wanted.database_only:
            _restore_database(archive, wanted)
        else:
            _restore_all(archive, wanted, say)
        manifest = archive.manifest
    files = "" if wanted.database_only else f" and {len(manifest.files):,} files"
    say(f"Restored: {manifest.rows:,} rows{files}, as they were at {manifest.made_at} (digest {manifest.digest[:12]}).")


def _restore_all(archive: Archive, wanted: Wanted, say: Say) -> None:
    folder, place = wanted.data_dir, _sqlite_file(wanted.data_dir)
    keys = _keys(archive, wanted)
    _check_empty(folder, archive)
    prepare_data_dir(folder)
    with lock_data_dir(folder):
        restore_here(folder)
        marker = folder / UNFINISHED_RESTORE
        was_begun = marker.exists()
        if not (was_begun and marker.read_text() == COMPLETE):
            marker.write_text(archive.manifest.digest)
            os.sync()
            try:
                for name, key in keys.items():
                    with whole_file(folder / name) as stream:
                        stream.write(f"{key}\n".encode())
                _build(archive, wanted, place, has_files=True, was_begun=was_begun)
            except Refusal:
                _leave(folder)
                raise
            marker.write_text(COMPLETE)
        if place is not None:
            _put_in_place(place)
        marker.unlink()
        os.sync()
    for line in _about_keys(keys, archive):
        say(line)


def _restore_database(archive: Archive, wanted: Wanted) -> None:
    place = _sqlite_file(wanted.data_dir)
    if place is not None and _has_tables(place):
        raise Refusal(f"{place} exists. Nothing was restored: choose an empty place.", code="target_not_empty")
    _build(archive, wanted, place)
    if place is not None:
        if is_own(place, wanted.data_dir):
            forget_move(wanted.data_dir)  # before: an end in between leaves neither, and that is refused everywhere
        _put_in_place(place)


def _build(
    archive: Archive, wanted: Wanted, place: Path | None, *, has_files: bool = False, was_begun: bool = False
) -> None:
    """Restore into PostgreSQL, or into an SQLite file beside `place`, where that has to be in the end.

    A restore that `was_begun` in this folder may have ended after the last row, and may be repeated. Otherwise people
    may have used a database with this backup in it since.
    """
    if has_files:
        _refuse_without_room(wanted.data_dir, archive.manifest.bytes_of_files)
    if place is not None:
        _refuse_without_room(place.parent, archive.bytes_of_rows)
    if place is not None:
        _remove(_beside(place))
        os.environ["DATABASE_URL"] = f"sqlite:///{_beside(place)}"
    import django

    django.setup()
    from django.db import DatabaseError, connections

    from apps.backups.actions.backups import restore
    from apps.backups.management.console import ProgressLine

    progress = ProgressLine()
    try:
        restore(
            archive=archive,
            with_files=has_files,
            progress=progress,
            is_searchable=wanted.is_searchable,
            may_be_there=was_begun,
        )
    except OSError as problem:
        raise Refusal(f"{wanted.data_dir} cannot be written to: {problem.strerror}.", code="no_room") from None
    except DatabaseError as problem:
        raise Refusal(f"The database does not take it. Nothing was restored. {problem}", code="database_away") from None
    finally:
        progress.end()
        connections.close_all()
    os.sync()


def _refuse_without_room(folder: Path, needs: int) -> None:
    free = shutil.disk_usage(folder).free if folder.is_dir() else needs
    if needs > free:
        raise Refusal(
            f"The backup unpacks to {needs / 1e6:,.0f} MB, and {folder} has {free / 1e6:,.0f} MB free. Nothing was "
            "restored: make room there, if the backup is one that you trust.",
            code="no_room",
        )


def _put_in_place(place: Path) -> None:
    """Rename the file that was built, unless that was done before. An empty one of its name is replaced."""
    building = _beside(place)
    if not building.exists():
        return
    with closing(sqlite3.connect(building)) as own:
        own.execute("PRAGMA wal_checkpoint(TRUNCATE)")  # what is in its log would not be renamed with it
    os.sync()
    _remove(place)
    building.rename(place)


def _beside(place: Path) -> Path:
    return place.with_name(place.name + BUILDING)


def _has_tables(place: Path) -> bool:
    """Whether somebody has a database here. Any command makes an empty one where there is none."""
    if not place.exists():
        return False
    try:
        with closing(sqlite3.connect(place)) as there:
            return bool(there.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchone())
    except sqlite3.DatabaseError:
        return True


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
    marker = folder / UNFINISHED_RESTORE
    if marker.exists():
        if marker.read_text() not in {"", COMPLETE, archive.manifest.digest}:
            raise Refusal(
                f"Another backup was being restored into {folder}. Finish that one, or choose another folder with "
                "--data-dir.",
                code="target_not_empty",
            )
        return
    there = {path.name for path in folder.iterdir()} if folder.is_dir() else set()
    if there - MADE_AGAIN or _has_tables(folder / "karat.sqlite3"):
        raise Refusal(
            f"{folder} is not empty. Nothing was restored: choose another one with --data-dir, or move what is there "
            "away.",
            code="target_not_empty",
        )


def _sqlite_file(data_dir: Path) -> Path | None:
    url = os.environ.get("DATABASE_URL", "")
    if not url:
        return own_database(data_dir)
    config = dj_database_url.parse(url)
    return Path(str(config["NAME"])) if config["ENGINE"].endswith("sqlite3") else None


def _keys(archive: Archive, wanted: Wanted) -> dict[str, str]:
    """The keys in the backup. Raises Refusal where their passphrase is missing and nobody said to leave them out."""
    passphrase = read_passphrase(wanted.passphrase_file)
    if not archive.manifest.has_secrets or wanted.leaves_secrets:
        return {}
    if not passphrase:
        raise Refusal(
            "The backup has the keys of the server. Give their passphrase with --passphrase-file, or leave them out "
            "with --without-secrets. Nothing was restored.",
            code="no_passphrase",
        )
    try:
        keys = unseal_keys(archive.secrets(), passphrase)
    except WrongPassphrase:
        raise Refusal("The passphrase is wrong. Nothing was restored.", code="wrong_passphrase") from None
    if not keys.keys() <= VARIABLES.keys():
        raise archive.damaged("the keys of the server")
    return keys


def _about_keys(keys: dict[str, str], archive: Archive) -> list[str]:
    if keys:
        from_elsewhere = [name for name, variable in VARIABLES.items() if os.environ.get(variable)]
        return [f"{VARIABLES[name]} is set, and counts instead of the restored {name}." for name in from_elsewhere]
    if archive.is_of_one_project():
        return [
            "This is one project, whose history another server has signed: accept it with `karat verify-audit --sign`. "
            "Make an operator with `karat user add E-MAIL --name NAME --operator`, who makes links with which people "
            "choose a password."
        ]
    return [
        "The keys of the server were not restored. Put secret-key and audit-key in the place of those that are there "
        "now (or set SECRET_KEY and KARAT_AUDIT_KEY); or run `karat verify-audit --sign`, and enter the secrets of "
        "projects again, under Settings, Secrets."
    ]
