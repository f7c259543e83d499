"""Threads and processes that write to one SQLite file: they take turns, and whoever waits too long is told so."""

import os
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.db import OperationalError, connection, connections, transaction

from apps.common.database.sqlite.base import LOOK_MS
from apps.common.web.outages import BUSY, outage_of

OPTIONS = {"transaction_mode": "IMMEDIATE", "timeout": 10, "init_command": "PRAGMA journal_mode=WAL"}


@pytest.fixture
def file(tmp_path: Path, django_db_blocker: pytest.FixtureRequest) -> Iterator[Path]:
    """A database with one table, under the name "graded" for every thread."""
    path = tmp_path / "graded.sqlite3"
    config = {"ENGINE": "apps.common.database.sqlite", "NAME": path, "OPTIONS": dict(OPTIONS)}
    connections.settings["graded"] = connections.configure_settings({"default": config})["default"]
    with django_db_blocker.unblock():
        run("CREATE TABLE grade (value integer)")
        yield path
        own().close()
        del connections["graded"], connections.settings["graded"]


def own() -> Any:
    return connections["graded"]


def run(statement: str) -> list[tuple]:
    with own().cursor() as cursor:
        return cursor.execute(statement).fetchall()


def grade(value: int) -> None:
    with transaction.atomic(using="graded"):
        run(f"INSERT INTO grade VALUES ({value})")


def grades() -> list[int]:
    return [value for (value,) in run("SELECT value FROM grade ORDER BY value")]


class Thread(threading.Thread):
    """Does its work in a thread with a connection of its own, and keeps what it raised."""

    def __init__(self, work: Callable[[], object]) -> None:
        super().__init__(daemon=True)
        self.work = work
        self.fault: OperationalError | None = None
        self.start()

    def run(self) -> None:
        try:
            self.work()
        except OperationalError as fault:
            self.fault = fault
        finally:
            own().close()

    def end(self) -> OperationalError | None:
        self.join(30)
        assert not self.is_alive()
        return self.fault


@pytest.mark.parametrize("single", [False, True], ids=["a transaction", "a statement"])
def test_a_thread_writes_once_the_one_before_it_has_committed(file: Path, single: bool) -> None:
    with transaction.atomic(using="graded"):
        run("INSERT INTO grade VALUES (1)")
        other = Thread(lambda: run("UPDATE grade SET value = value + 1") if single else grade(2))
        other.join(0.2)
        assert other.is_alive()

    assert other.end() is None
    assert grades() == ([2] if single else [1, 2])


def test_many_threads_that_write_at_once_all_do(file: Path) -> None:
    def work() -> None:
        for _ in range(20):
            grade(1)

    threads = [Thread(work) for _ in range(8)]

    assert {thread.end() for thread in threads} == {None}
    assert len(grades()) == 160


def test_a_cursor_of_a_thread_that_waits_can_be_freed_by_the_one_that_writes(file: Path) -> None:
    """Inside SQLite the one would wait for the other until the timeout, and fail then."""
    left = []
    run("INSERT INTO grade VALUES (1), (2)")

    def work() -> None:
        left.append(own().cursor().execute("SELECT value FROM grade"))
        left[0].fetchone()
        grade(3)

    with transaction.atomic(using="graded"):
        run("INSERT INTO grade VALUES (0)")
        other = Thread(work)
        other.join(0.2)
        left.clear()

    assert other.end() is None


def test_whoever_waits_for_another_thread_too_long_is_told_that_the_database_is_busy(file: Path) -> None:
    connections.settings["graded"]["OPTIONS"]["timeout"] = 0.1
    with transaction.atomic(using="graded"):
        fault = Thread(lambda: grade(2)).end()
        assert Thread(grades).end() is None  # reading needs no turn

    assert str(fault) == "database is locked"
    assert outage_of(fault) is BUSY


def test_whoever_waits_for_another_process_too_long_is_told_the_same(file: Path) -> None:
    own().close()
    own().settings_dict["OPTIONS"]["timeout"] = 0.1
    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(OperationalError, match="database is locked") as refused:
            grade(1)
        other.execute("ROLLBACK")
    grade(2)

    assert outage_of(refused.value) is BUSY
    assert grades() == [2]


def test_nobody_sleeps_inside_sqlite_for_longer_than_an_instant(file: Path) -> None:
    """It would hold the mutex of its connection, and not see that the lock is free."""
    assert run("PRAGMA busy_timeout") == [(LOOK_MS,)]
    with closing(sqlite3.connect(file, isolation_level=None, check_same_thread=False)) as other:
        other.execute("BEGIN IMMEDIATE")
        end = threading.Timer(0.2, lambda: other.execute("COMMIT"))
        end.start()
        grade(1)
        end.join()

    assert grades() == [1]


def test_what_hardly_waits_is_refused_soon_and_the_next_one_waits_again(file: Path) -> None:
    def work() -> None:
        with own().waiting_for(0.05), pytest.raises(OperationalError, match="database is locked"):
            grade(2)
        grade(3)

    with transaction.atomic(using="graded"):
        other = Thread(work)
        other.join(0.5)
        assert other.is_alive()

    assert other.end() is None
    assert grades() == [3]


def test_a_turn_ends_with_a_rollback_and_with_a_connection_that_is_lost(file: Path) -> None:
    with transaction.atomic(using="graded"):
        run("INSERT INTO grade VALUES (1)")
        transaction.set_rollback(True, using="graded")
    assert Thread(lambda: grade(2)).end() is None

    with transaction.atomic(using="graded"):
        own().close()
    assert Thread(lambda: grade(3)).end() is None

    assert grades() == [2, 3]


def test_a_forked_process_has_no_turn_of_its_parent(file: Path) -> None:
    """As a web server forks its workers, and Celery its children."""
    with transaction.atomic(using="graded"):
        child = os.fork()
        if not child:
            signal.alarm(20)
            turn = own()
            turn._held = None
            turn._take_turn()
            os._exit(0)
        _, status = os.waitpid(child, 0)

    assert status == 0


WRITER = """
import os, sys, sqlite3
import django
from django.conf import settings
options = {"transaction_mode": "IMMEDIATE", "init_command": sys.argv[2], "timeout": 20}
database = {"ENGINE": "apps.common.database.sqlite", "NAME": sys.argv[1], "OPTIONS": options}
settings.configure(DATABASES={"default": database})
django.setup()
from django.db import connection, transaction
value = 0
while True:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("INSERT INTO grade VALUES (%s)", [value])
    print(value, flush=True)
    value += 1
"""


@pytest.mark.skipif(connection.vendor != "sqlite", reason="asks for the settings of SQLite")
def test_what_was_acknowledged_is_there_after_a_kill(file: Path) -> None:
    own().close()
    init = settings.DATABASES["default"]["OPTIONS"]["init_command"]
    command = [sys.executable, "-c", WRITER, str(file), init]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        said = [process.stdout.readline() for _ in range(200)]
        process.kill()
        said += process.stdout.readlines()

    acknowledged = [int(line) for line in said if line.endswith("\n")]
    assert grades()[: len(acknowledged)] == acknowledged


@pytest.mark.django_db
@pytest.mark.skipif(connection.vendor != "sqlite", reason="asks for the settings of SQLite")
def test_every_commit_waits_for_the_disk() -> None:
    with connection.cursor() as cursor:
        assert cursor.execute("PRAGMA synchronous").fetchone() == (2,)
        assert cursor.execute("PRAGMA journal_mode").fetchone() == ("wal",)
