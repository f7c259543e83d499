"""kill -9 of a backup, a restore and a move, at moments drawn from a seed: the target is absent or complete.

Each is killed with all its children, and run again until it is through. The source is what it was.
"""

import os
import random
import signal
import subprocess
from contextlib import ExitStack
from pathlib import Path
from time import monotonic

import pytest

from apps.backups.core.rows import TableState
from apps.backups.formats.archive import Archive
from tests.backups.running import command, done, empty_postgresql, karat, on
from tests.conftest import REPO

SEED = 20261127
RECORDS = {"backups_backup", "audit_event", "audit_chain", "audit_link", "audit_sealmark"}
pytestmark = [pytest.mark.slow, pytest.mark.long]


@pytest.fixture(scope="module")
def source(older, tmp_path_factory) -> Path:
    """A server of this version on SQLite, and a backup of it."""
    folder = tmp_path_factory.mktemp("source")
    done("restore", older / "older.zip", env=on(folder / "data"))
    done("backup", folder / "backup.zip", env=on(folder / "data"))
    return folder


def content_of(path: Path) -> dict[str, TableState]:
    """Of each table how many rows, and their digest; but not of those in which each backup is put on record."""
    with Archive(path) as archive:
        return {name: stored.state for name, stored in archive.manifest.tables.items() if name not in RECORDS}


def content_there(env: dict[str, str], scratch: Path) -> dict[str, TableState]:
    """Of all that is in a server now."""
    scratch.unlink(missing_ok=True)
    done("backup", scratch, env=env)
    return content_of(scratch)


def killed(moment: float, *arguments: object, env: dict[str, str]) -> bool:
    """Run a command and kill it, with its children, after so many seconds; False where it had ended by then."""
    process = subprocess.Popen(
        command(*arguments), cwd=REPO, env=env, start_new_session=True, stdout=subprocess.DEVNULL, stderr=-1
    )
    try:
        process.communicate(timeout=moment)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return True
    return False


def moments(n: int, *arguments: object, env: dict[str, str]) -> list[float]:
    """Moments within the time that the command takes when nobody kills it, which is measured."""
    began = monotonic()
    done(*arguments, env=env)
    lasting, drawn = monotonic() - began, random.Random(SEED)
    return [drawn.uniform(0.1, lasting) for _ in range(n)]


@pytest.mark.once
def test_a_backup_that_is_killed_leaves_nothing_that_could_be_taken_for_one(source, tmp_path):
    env, kills = on(source / "data"), 0
    for n, moment in enumerate(moments(7, "backup", tmp_path / "first.zip", env=env)):
        target = tmp_path / f"{n}.zip"
        kills += killed(moment, "backup", target, env=env)
        assert not target.exists() or content_of(target) == content_of(source / "backup.zip")
        if not target.exists():
            done("backup", target, env=env)
        assert content_of(target) == content_of(source / "backup.zip")

    assert kills >= 4


@pytest.mark.once
def test_a_restore_that_is_killed_is_run_again_and_is_complete(source, tmp_path):
    wanted, kills = content_of(source / "backup.zip"), 0
    for n, moment in enumerate(moments(7, "restore", source / "backup.zip", env=on(tmp_path / "first"))):
        env = on(tmp_path / f"{n}")
        kills += killed(moment, "restore", source / "backup.zip", env=env)
        if (tmp_path / f"{n}" / "restoring").exists():
            assert karat("user", "list", env=env).returncode == 2
        again = karat("restore", source / "backup.zip", env=env)
        assert again.returncode == 0 or "is not empty" in again.stderr
        assert content_there(env, tmp_path / "check.zip") == wanted
        assert not (tmp_path / f"{n}" / "restoring").exists()

    assert kills >= 4


@pytest.mark.once
def test_a_move_to_sqlite_that_is_killed_is_run_again_and_is_complete(source, tmp_path):
    move_and_kill(source, tmp_path, [f"sqlite:///{tmp_path}/{n}.sqlite3" for n in range(4)])


@pytest.mark.postgres
@pytest.mark.django_db
def test_a_move_to_postgresql_that_is_killed_is_run_again_and_is_complete(source, tmp_path):
    with ExitStack() as stack:
        move_and_kill(source, tmp_path, [stack.enter_context(empty_postgresql()) for _ in range(4)])


def move_and_kill(source: Path, scratch: Path, targets: list[str]) -> None:
    """The first target is for measuring how long it takes."""
    data, wanted, kills = source / "data", content_of(source / "backup.zip"), 0
    for target, moment in zip(targets[1:], moments(3, "move", "--to", targets[0], env=on(data)), strict=True):
        kills += killed(moment, "move", "--to", target, env=on(data))
        again = karat("move", "--to", target, env=on(data))
        assert again.returncode == 0 or "Nothing was restored: choose an empty" in again.stderr
        assert content_there(on(data, target), scratch / "check.zip") == wanted
        assert content_there(on(data), scratch / "check.zip") == wanted
        assert not (data / "moving.zip").exists()

    assert kills >= 2
