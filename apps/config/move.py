"""`karat move`: everything in the database to another one, from SQLite to PostgreSQL or back.

It is a backup without files that is restored elsewhere: the data directory stays, the database that is left is not
touched, and the other one gets all rows or none. From then on nothing works on an SQLite file that was left (`moved`).
"""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import dj_database_url

from apps.common.errors import Refusal
from apps.config.moved import moved_away, note_move, own_database
from apps.config.up import lock_data_dir

CARRIED = "moving.zip"
QUIET_SECONDS = 60
ROOT = Path(__file__).resolve().parent.parent.parent


def move(to: str, *, data_dir: Path, say: Callable[[str], None]) -> int:
    """`to` is an address as in DATABASE_URL, or `sqlite` for the data directory's own file.

    Returns the exit code of the restore. Raises Refusal where nothing can be moved.
    """
    import django

    to = f"sqlite:///{own_database(data_dir)}" if to == "sqlite" else to
    carried = data_dir / CARRIED
    django.setup()
    _check(to)
    with lock_data_dir(data_dir, or_else=", and run this again."):
        _refuse_workers()
        carried.unlink(missing_ok=True)
        digest = _write(carried)
        code = _restore(carried, to, data_dir)
        carried.unlink(missing_ok=True)
        if code == 0:
            note_move(to, data_dir)
    if code == 0:
        say(f"Moved, with the digest {digest[:12]} on both sides. The database that was left is as it was.")
        say("Set DATABASE_URL to the new address, or remove it for SQLite in the data directory, and start Karat.")
        if moved_away(own_database(data_dir), data_dir):
            say("Without it nothing starts on the SQLite database in the data directory, which was left.")
        say("Everybody signs in again; API tokens stay valid.")
    return code


def _check(to: str) -> None:
    from django.db import connection

    here = connection.settings_dict
    try:
        target = dj_database_url.parse(to)
    except ValueError:
        target = {"ENGINE": ""}
    if not str(target.get("ENGINE")).endswith(("sqlite3", "postgresql")):
        raise Refusal(
            "Write --to as postgres://USER:PASSWORD@HOST/NAME, as sqlite, or as sqlite:///FILE.", code="address_unknown"
        )
    named = ("NAME", "HOST", "PORT")
    is_same_kind = target["ENGINE"].endswith("sqlite3") == (connection.vendor == "sqlite")
    if is_same_kind and all(str(target.get(key) or "") == str(here.get(key) or "") for key in named):
        raise Refusal(
            "This is the database that Karat uses already. Name another one. What moves is the database in "
            "DATABASE_URL, or without it that of the data directory.",
            code="target_is_source",
        )


def _refuse_workers() -> None:
    """On SQLite the lock of the data directory has told already that nobody works there."""
    from django.db import connection

    from apps.jobs.selectors.jobs import worker_last_seen

    if connection.vendor == "sqlite":
        return
    if (seconds := worker_last_seen()) is not None and seconds < QUIET_SECONDS:
        raise Refusal(
            f"A worker was seen {seconds} s ago. Stop Karat and its workers, wait a minute, and run this again: what "
            "people do meanwhile would not move.",
            code="still_running",
        )


def _write(carried: Path) -> str:
    from django.utils import timezone

    from apps.backups.execution.making import make_backup
    from apps.backups.management.console import ProgressLine

    progress = ProgressLine()
    try:
        return make_backup(carried, at=timezone.now(), with_files=False, progress=progress).manifest.digest
    finally:
        progress.end()


def _restore(carried: Path, to: str, data_dir: Path) -> int:
    command = [sys.executable, "-m", "apps.config.commandline", "restore", str(carried), "--database-only"]
    env = {**os.environ, "DATABASE_URL": to, "KARAT_DATA_DIR": str(data_dir)}
    return subprocess.run(command, cwd=ROOT, env=env).returncode
