"""Commits to SQLite that wait for the disk together, each in a file of its own."""

import os
import shutil
import sqlite3
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from django.db import OperationalError, connections, transaction

from apps.common.database.long_waits import tell_of_long_waits
from apps.common.database.sqlite import syncing
from apps.common.database.sqlite.base import DatabaseWrapper
from apps.common.web.outages import UNWRITABLE, outage_of

FULL, NORMAL = 2, 1
INIT = "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL"


class Disk:
    """Counts how often somebody waits for it. Each time, what `meanwhile` says happens first."""

    def __init__(self) -> None:
        self.waits = 0
        self.meanwhile: Callable[[], object] = lambda: None

    def sync(self, file: int) -> None:
        self.waits += 1
        self.meanwhile()


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Disk:
    disk = Disk()
    monkeypatch.setattr(syncing, "_sync", disk.sync)
    return disk


@pytest.fixture
def file(tmp_path: Path, django_db_blocker: pytest.FixtureRequest) -> Iterator[Path]:
    """A database in SQLite's log mode with one table, under the name "graded" for every thread."""
    path = tmp_path / "graded.sqlite3"
    options = {"transaction_mode": "IMMEDIATE", "timeout": 60, "patience": 60, "init_command": INIT}
    config = {"ENGINE": "apps.common.database.sqlite", "NAME": path, "OPTIONS": options}
    connections.settings["graded"] = connections.configure_settings({"default": config})["default"]
    with django_db_blocker.unblock():
        run("CREATE TABLE grade (value integer)")
        yield path
        own().close()
        del connections["graded"], connections.settings["graded"]


def own() -> DatabaseWrapper:
    return connections["graded"]


def run(statement: str) -> list[tuple]:
    with own().cursor() as cursor:
        return cursor.execute(statement).fetchall()


def how_sqlite_waits() -> int:
    """Asked without Karat's cursor, which may change it."""
    (how,) = own().connection.execute("PRAGMA synchronous").fetchone()
    return int(how)


def grade(value: int) -> None:
    with transaction.atomic(using="graded"):
        run(f"INSERT INTO grade VALUES ({value})")


def grade_in_a_thread(value: int) -> None:
    try:
        grade(value)
    finally:
        own().close()


def grades(path: Path) -> list[int]:
    with closing(sqlite3.connect(path)) as there:
        return [value for (value,) in there.execute("SELECT value FROM grade ORDER BY value")]


def test_what_is_on_the_disk_when_a_commit_returns_has_the_grade(file: Path, disk: Disk, tmp_path: Path) -> None:
    copy = tmp_path / "after-a-power-cut.sqlite3"

    def keep() -> None:
        for ending in ("", "-wal"):
            shutil.copyfile(f"{file}{ending}", f"{copy}{ending}")

    disk.meanwhile = keep
    grade(1)

    assert grades(copy) == [1]


def test_others_may_write_while_a_commit_waits_for_the_disk(file: Path, disk: Disk) -> None:
    def another_writer() -> None:
        with closing(sqlite3.connect(file, timeout=0, isolation_level=None)) as other:
            other.execute("INSERT INTO grade VALUES (2)")

    disk.meanwhile = another_writer
    grade(1)

    assert grades(file) == [1, 2]


def test_one_wait_serves_all_who_committed_before_it_began(file: Path, disk: Disk) -> None:
    has_begun, may_end = threading.Event(), threading.Event()

    def first() -> None:
        has_begun.set()
        may_end.wait(60)

    disk.meanwhile = first
    with ThreadPoolExecutor(6) as threads:
        commits = [threads.submit(grade_in_a_thread, 1)]
        has_begun.wait(10)
        commits += [threads.submit(grade_in_a_thread, value) for value in range(2, 7)]
        while len(grades(file)) < 6 or syncing.logs.of(str(file))._committed < 6:
            assert not any(commit.done() for commit in commits)  # since it has failed
        assert not any(commit.done() for commit in commits)
        may_end.set()
        for commit in commits:
            commit.result()

    assert disk.waits == 2


@pytest.mark.parametrize("writes", [0, 1])
def test_a_transaction_waits_once(file: Path, disk: Disk, writes: int) -> None:
    with transaction.atomic(using="graded"):
        for value in range(writes):
            run(f"INSERT INTO grade VALUES ({value})")

    assert disk.waits == 1


def test_a_transaction_that_is_rolled_back_waits_for_nothing(file: Path, disk: Disk) -> None:
    with transaction.atomic(using="graded"):
        run("INSERT INTO grade VALUES (1)")
        transaction.set_rollback(True, using="graded")

    assert (disk.waits, grades(file)) == (0, [])


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO grade VALUES (2)",
        "INSERT INTO grade VALUES (2) RETURNING value",
        "\n  UPDATE grade SET value = 3",
        "delete FROM grade",
        "WITH new(value) AS (VALUES (2)) INSERT INTO grade SELECT value FROM new",
        "CREATE TABLE other (value integer)",
        "VACUUM",
        "PRAGMA synchronous",
    ],
)
def test_sqlite_itself_waits_for_a_statement_outside_a_transaction(file: Path, disk: Disk, statement: str) -> None:
    grade(1)

    run(statement)

    assert how_sqlite_waits() == FULL


def test_sqlite_itself_waits_for_many_rows_outside_a_transaction(file: Path, disk: Disk) -> None:
    grade(1)

    with own().cursor() as cursor:
        cursor.executemany("INSERT INTO grade VALUES (%s)", [(2,), (3,)])

    assert how_sqlite_waits() == FULL


def test_sqlite_waits_for_nothing_within_a_transaction_and_while_it_is_read(file: Path, disk: Disk) -> None:
    run("INSERT INTO grade VALUES (1)")
    with transaction.atomic(using="graded"):
        run("INSERT INTO grade VALUES (2)")
        within = how_sqlite_waits()
    run("SELECT value FROM grade")

    assert (within, how_sqlite_waits()) == (NORMAL, NORMAL)


def test_a_connection_that_is_opened_again_waits_as_the_first_one_did(file: Path, disk: Disk) -> None:
    grade(1)
    own().close()

    run("SELECT value FROM grade")
    new = how_sqlite_waits()
    grade(2)
    run("INSERT INTO grade VALUES (3)")

    assert (new, how_sqlite_waits()) == (FULL, FULL)


def test_a_file_without_a_log_is_left_to_sqlite(file: Path, disk: Disk) -> None:
    run("PRAGMA journal_mode=DELETE")
    own().close()
    connections.settings["graded"]["OPTIONS"]["init_command"] = "PRAGMA synchronous=FULL"

    with transaction.atomic(using="graded"):
        assert run("PRAGMA synchronous") == [(FULL,)]
    assert disk.waits == 0


def test_a_log_that_sqlite_has_removed_is_safe(file: Path, disk: Disk) -> None:
    syncing.SyncedLog(str(file.with_name("removed.sqlite3"))).wait()

    assert disk.waits == 0


def test_no_grade_is_acknowledged_once_the_disk_has_failed(file: Path, disk: Disk) -> None:
    def fail() -> None:
        raise OSError("Input/output error")

    disk.meanwhile = fail
    with pytest.raises(OperationalError) as first:
        grade(1)
    disk.meanwhile = lambda: None
    with pytest.raises(OperationalError) as later:
        grade(2)

    assert outage_of(first.value) == outage_of(later.value) == UNWRITABLE


def test_a_log_that_cannot_be_opened_for_a_moment_is_waited_for_the_next_time(
    file: Path, disk: Disk, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> int:
        raise OSError("Too many open files")

    with monkeypatch.context() as while_full:
        while_full.setattr(os, "open", refuse)
        with pytest.raises(OperationalError):
            grade(1)
    grade(2)

    assert disk.waits == 1


def test_a_disk_that_took_long_is_waited_for_as_for_something_long(file: Path, disk: Disk, monkeypatch) -> None:
    told: list[str] = []

    def work() -> None:
        tell_of_long_waits(lambda: told.append("begin"), lambda: told.append("end"))
        for value in range(3):
            grade(value)
        own().close()

    monkeypatch.setattr(syncing, "LONG_SECONDS", 0.0)
    disk.meanwhile = lambda: told.append("disk")
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()

    assert told == ["disk", "begin", "disk", "end", "begin", "disk", "end"]
