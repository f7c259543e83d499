"""kill -9 of backup, restore, move and deletion, at moments drawn from a seed: the target is absent or complete.

Each is killed with all its children, and run again until it is through. The source is what it was.
"""

import os
import random
import resource
import signal
import subprocess
from contextlib import ExitStack
from pathlib import Path
from time import sleep

import pytest

from apps.backups.core.rows import TableState
from apps.backups.formats.archive import Archive
from tests.backups.running import command, done, empty_postgresql, karat, on, python, rows_in
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
    """Run a command and kill it, with its children, once it has taken so many seconds of processor time.

    False where it had ended by then.
    """
    process = subprocess.Popen(
        command(*arguments), cwd=REPO, env=env, start_new_session=True, stdout=subprocess.DEVNULL, stderr=-1
    )
    while process.poll() is None:
        if processor_seconds(process.pid) >= moment:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            return True
        sleep(0.01)
    process.communicate()
    return False


def processor_seconds(pid: int) -> float:
    """Those of a process that has not been waited for, and of its children that have ended; 0 when it has ended."""
    try:
        after_name = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except FileNotFoundError:
        return 0.0
    return sum(map(int, after_name[11:15])) / os.sysconf("SC_CLK_TCK")


def moments(n: int, *arguments: object, env: dict[str, str]) -> list[float]:
    """One moment in each of `n` equal parts of the processor time that the command takes when nobody kills it.

    Other work on the machine moves a moment of the clock to another statement, or past the end.
    """
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done(*arguments, env=env)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    part = (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) / n
    drawn = random.Random(SEED)
    return [drawn.uniform(part * number, part * (number + 1)) for number in range(n)]


@pytest.mark.once
def test_a_backup_that_is_killed_leaves_nothing_that_could_be_taken_for_one(source, tmp_path):
    env, kills = on(source / "data"), 0
    for n, moment in enumerate(moments(5, "backup", tmp_path / "first.zip", env=env)):
        target = tmp_path / f"{n}.zip"
        kills += killed(moment, "backup", target, env=env)
        assert not target.exists() or content_of(target) == content_of(source / "backup.zip")
        if not target.exists():
            done("backup", target, env=env)
        assert content_of(target) == content_of(source / "backup.zip")

    assert kills >= 2


@pytest.mark.once
def test_a_restore_that_is_killed_is_run_again_and_is_complete(source, tmp_path):
    wanted, kills = content_of(source / "backup.zip"), 0
    for n, moment in enumerate(moments(4, "restore", source / "backup.zip", env=on(tmp_path / "first"))):
        env = on(tmp_path / f"{n}")
        kills += killed(moment, "restore", source / "backup.zip", env=env)
        if (tmp_path / f"{n}" / "restoring").exists():
            assert karat("user", "list", env=env).returncode == 2
        again = karat("restore", source / "backup.zip", env=env)
        assert again.returncode == 0 or "is not empty" in again.stderr
        assert content_there(env, tmp_path / "check.zip") == wanted
        assert not (tmp_path / f"{n}" / "restoring").exists()

    assert kills >= 2


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
    drawn = moments(3, "move", "--to", targets[0], env=on(data))
    (data / "moved-to").unlink()
    for target, moment in zip(targets[1:], drawn, strict=True):
        kills += killed(moment, "move", "--to", target, env=on(data))
        if not (data / "moved-to").exists():
            again = karat("move", "--to", target, env=on(data))
            assert again.returncode == 0 or "Nothing was restored: choose an empty" in again.stderr
            assert (data / "moved-to").exists() == (again.returncode == 0)
        assert content_there(on(data, target), scratch / "check.zip") == wanted
        (data / "moved-to").unlink(missing_ok=True)
        assert content_there(on(data), scratch / "check.zip") == wanted
        assert not (data / "moving.zip").exists()

    assert kills >= 2


DELETES = """
import os, signal
import django
django.setup()
from django.db import connection
from django.utils import timezone
from apps.backups.execution.jobs import finish_deletions
from apps.jobs.execution.performing import perform
from apps.jobs.models import Job

left = int(os.environ["KILLED_AT"])

def counts(execute, sql, params, many, context):
    global left
    result = execute(sql, params, many, context)
    left -= sql.startswith("DELETE FROM")
    if left == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    return result

finish_deletions(timezone.now())
job = Job.objects.open().get(kind="backups.delete_project")
with connection.execute_wrapper(counts):
    while (done := perform(job.pk, worker="killed", clock=timezone.now)) is None:
        pass  # until the lease of who was killed has ended
print(done.state, done.error)
"""


@pytest.mark.once
def test_a_project_whose_deletion_is_killed_goes_in_the_end(source, tmp_path):
    """In the middle of a part each time, before it is committed."""
    env = on(tmp_path / "data") | {"KARAT_JOB_LEASE": "1"}
    done("restore", source / "backup.zip", env=env)
    done("project", "delete", "handbook", "--name", name_of_handbook(source), env=env)
    assert "There is no project" in karat("export", "--project", "handbook", "--out", tmp_path / "x", env=env).stderr

    for parts in (1, 6):
        assert python(DELETES, env=env | {"KILLED_AT": str(parts)}).returncode == -signal.SIGKILL
    assert python(DELETES, env=env | {"KILLED_AT": "-1"}).returncode == 0

    done("backup", tmp_path / "after.zip", env=env)
    with Archive(tmp_path / "after.zip") as archive:
        left = {name: stored.state.rows for name, stored in archive.manifest.tables.items()}
    assert (left["accounts_project"], left["accounts_projectdeletion"], left["judging_judgement"]) == (0, 1, 0)
    assert "intact" in done("verify-audit", env=env)


def name_of_handbook(source: Path) -> str:
    with Archive(source / "backup.zip") as archive:
        return next(row["name"] for row in rows_in(archive, "accounts_project") if row["slug"] == "handbook")
