"""Two writers at one SQLite file, and a clock that moves only when somebody sleeps."""

import os
import sqlite3
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from django.db import OperationalError, connections, transaction

from apps.common.database.sqlite import base
from apps.common.database.sqlite.base import DatabaseWrapper

NAMES = ("one", "other")
WAL = "PRAGMA journal_mode=WAL;"


class Clock:
    """Time passes while somebody sleeps, and then what `meanwhile` says happens."""

    def __init__(self) -> None:
        self.now = 1_000.0
        self.naps: list[float] = []
        self.meanwhile: Callable[[], object] = lambda: None

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        self.naps.append(round(seconds, 3))
        self.meanwhile()


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(base, "time", clock)
    return clock


@pytest.fixture
def writers(
    tmp_path: Path, clock: Clock, django_db_blocker: pytest.FixtureRequest
) -> Iterator[tuple[DatabaseWrapper, DatabaseWrapper]]:
    """Two connections to one file; neither lets SQLite itself wait."""
    options = {"transaction_mode": "IMMEDIATE", "timeout": 0, "patience": 60, "init_command": WAL}
    config = {"ENGINE": "apps.common.database.sqlite", "NAME": tmp_path / "two.sqlite3", "OPTIONS": options}
    for name in NAMES:
        connections.settings[name] = connections.configure_settings({"default": config})["default"]
    with django_db_blocker.unblock():
        with connections["one"].cursor() as cursor:
            cursor.execute("CREATE TABLE grade (value integer)")
        yield connections["one"], connections["other"]
        for name in NAMES:
            connections[name].close()
            del connections[name], connections.settings[name]


def begin(writer: DatabaseWrapper) -> None:
    writer.set_autocommit(False, force_begin_transaction_with_broken_autocommit=True)


def grade(writer: DatabaseWrapper, value: int) -> None:
    with writer.cursor() as cursor:
        cursor.execute("INSERT INTO grade VALUES (%s)", [value])


def grades(reader: DatabaseWrapper) -> list[int]:
    with reader.cursor() as cursor:
        return [value for (value,) in cursor.execute("SELECT value FROM grade ORDER BY value")]


def test_a_transaction_waits_for_a_writer_that_takes_longer_than_one_look(writers, clock: Clock) -> None:
    one, other = writers
    begin(one)
    grade(one, 1)
    clock.meanwhile = lambda: one.commit() if len(clock.naps) == 200 else None

    with transaction.atomic(using="other"):
        grade(other, 2)

    one.set_autocommit(True)
    assert grades(one) == [1, 2]
    assert len(clock.naps) == 200


def test_a_single_statement_waits_as_well(writers, clock: Clock) -> None:
    one, other = writers
    begin(one)
    clock.meanwhile = one.commit

    grade(other, 2)

    one.set_autocommit(True)
    assert grades(one) == [2]


def test_a_long_wait_for_the_database_is_logged(writers, clock: Clock, caplog: pytest.LogCaptureFixture) -> None:
    one, other = writers
    begin(one)
    clock.meanwhile = lambda: one.commit() if clock.now > 1_025 else None

    grade(other, 2)

    one.set_autocommit(True)
    assert [record.getMessage() for record in caplog.records] == [
        "Others have been writing to the database for 10 s. Still waiting.",
        "Others have been writing to the database for 20 s. Still waiting.",
    ]


def test_patience_has_an_end(writers, clock: Clock) -> None:
    one, other = writers
    begin(one)

    with pytest.raises(OperationalError, match="database is locked"):
        grade(other, 2)

    one.rollback()
    one.set_autocommit(True)
    assert sum(clock.naps) == pytest.approx(60, abs=0.2)


def test_a_read_that_turns_into_a_write_too_late_fails_without_waiting(writers, clock: Clock) -> None:
    one, other = writers
    grade(one, 1)
    with other.cursor() as reading:
        reading.execute("BEGIN DEFERRED")
        reading.execute("SELECT value FROM grade")
        reading.fetchall()
        grade(one, 2)

        with pytest.raises(OperationalError) as refused:
            grade(other, 3)

        reading.execute("ROLLBACK")
    assert refused.value.__cause__.sqlite_errorcode == sqlite3.SQLITE_BUSY_SNAPSHOT
    assert clock.naps == []


@pytest.mark.parametrize(
    ("held", "gap"), [(0.01, []), (0.1, [0.01]), (1.0, [0.022]), (30.0, [0.022])], ids=["short", "tenth", "one", "long"]
)
def test_after_a_long_write_a_writer_pauses_so_that_others_can_write(
    writers, clock: Clock, held: float, gap: list[float]
) -> None:
    with transaction.atomic(using="one"):
        clock.now += held

    with transaction.atomic(using="one"):
        pass

    assert clock.naps == gap


def test_a_writer_that_did_something_else_in_between_need_not_pause_again(writers, clock: Clock) -> None:
    with transaction.atomic(using="one"):
        clock.now += 1
    clock.now += 0.2

    with transaction.atomic(using="one"):
        pass

    assert clock.naps == []


def test_with_enough_writers_waiting_for_a_stuck_lock_the_next_one_fails_at_once(
    writers, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = writers
    other.ensure_connection()
    other.crowd = 2
    line = base.WaitingThreads()
    monkeypatch.setattr(base, "waiting", line)
    for thread in (-1, -2):
        with monkeypatch.context() as somebody:
            somebody.setattr(base.threading, "get_ident", lambda thread=thread: thread)
            line.join(clock.now)
    begin(one)

    clock.now += base.GIVE_UP_SECONDS
    with pytest.raises(OperationalError, match="database is locked"):
        grade(other, 2)

    one.rollback()
    one.set_autocommit(True)
    assert clock.naps == []


def test_a_lock_that_moves_is_worth_a_look(clock: Clock) -> None:
    line = base.WaitingThreads()
    line.join(clock.now)
    clock.now += 2 * base.GIVE_UP_SECONDS
    line.leave(clock.now, got_it=True)
    line.join(clock.now)

    assert not line.is_given_up(clock.now, crowd=1)
    assert not line.is_given_up(clock.now + base.GIVE_UP_SECONDS, crowd=2)
    assert line.is_given_up(clock.now + base.GIVE_UP_SECONDS, crowd=1)


def test_a_wait_begins_with_many_looks_and_goes_on_with_fewer(writers, clock: Clock) -> None:
    one, other = writers
    begin(one)
    clock.meanwhile = lambda: one.commit() if clock.now > 1_002 else None

    grade(other, 2)

    one.set_autocommit(True)
    assert (clock.naps[0], clock.naps[60], clock.naps[-1]) == (0.001, 0.005, 0.02)


def test_a_connection_that_is_opened_while_somebody_holds_the_file_waits(tmp_path, writers) -> None:
    """The first settings of a connection are statements too, and need the file for a moment."""
    path = tmp_path / "held.sqlite3"
    holder = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
    holder.execute("CREATE TABLE grade (value integer)")
    holder.execute("BEGIN EXCLUSIVE")
    end = threading.Timer(0.2, lambda: holder.execute("COMMIT"))
    connections["other"].close()
    connections["other"].settings_dict["NAME"] = path
    connections["other"].settings_dict["OPTIONS"]["timeout"] = 10

    end.start()
    try:
        assert grades(connections["other"]) == []
        with connections["other"].cursor() as cursor:
            assert cursor.execute("PRAGMA busy_timeout").fetchone() == (0,)
    finally:
        end.join()
        holder.close()


class Thread(threading.Thread):
    """A thread of the process with a connection of its own, which it closes."""

    def __init__(self, work: Callable[[], object]) -> None:
        super().__init__(daemon=True)
        self.work, self.fault = work, ""
        self.start()

    def run(self) -> None:
        try:
            self.work()
        except OperationalError as fault:
            self.fault = str(fault)
        finally:
            connections["other"].close()

    def end(self) -> str:
        self.join(20)
        assert not self.is_alive()
        return self.fault


def write(value: int) -> None:
    with transaction.atomic(using="other"):
        grade(connections["other"], value)


def test_a_thread_is_woken_when_its_turn_comes_and_never_looks_at_the_lock(writers, clock: Clock) -> None:
    one, _ = writers
    begin(one)
    grade(one, 1)

    thread = Thread(lambda: write(2))
    while not base.waiting.count():
        os.sched_yield()
    one.commit()

    assert thread.end() == ""
    one.set_autocommit(True)
    assert grades(one) == [1, 2]
    assert clock.naps == []


def test_a_thread_waits_for_its_turn_no_longer_than_its_patience(writers, clock: Clock) -> None:
    one, _ = writers
    begin(one)

    thread = Thread(lambda: write(2))
    while not base.waiting.count():
        os.sched_yield()
    clock.now += 61

    assert thread.end() == "database is locked"
    one.rollback()
    one.set_autocommit(True)
    assert grades(one) == []


def test_the_turn_ends_with_a_connection_that_is_lost(writers, clock: Clock) -> None:
    one, _ = writers
    begin(one)
    one.close()

    assert Thread(lambda: write(2)).end() == ""


def test_a_forked_process_has_no_turn_of_its_parent(writers, clock: Clock) -> None:
    """As a web server forks its workers, and Celery its children."""
    turns = base.Turns()
    before = turns.of("karat.sqlite3")
    Thread(before.acquire).end()
    assert not before.acquire(blocking=False)

    turns.forget()

    assert turns.of("karat.sqlite3").acquire(blocking=False)
