"""Django's SQLite backend with fair locking: writers queue for the lock, and long writers leave gaps for others.

SQLite allows one writer at a time and has no queue: whoever finds the lock taken sleeps, up to a tenth of a second at a
time, and looks again. With many writers some find it taken at every look, and finally fail with "database is locked".
So the threads of a process wait for their turn without sleeping, and only the one whose turn it is looks whether
another process writes, every few milliseconds.
"""

import logging
import os
import sqlite3
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

from django.db import OperationalError
from django.db.backends.sqlite3 import base

from apps.common.database.sqlite import lists as lists  # teaches Django's `IN` how SQLite is asked
from apps.common.database.sqlite.syncing import SyncedLog, logs
from apps.common.database.time_waited import WaitFor, say_waited, timed_wait
from apps.common.files.private import close_database

log = logging.getLogger(__name__)

LOOKS_SECONDS = ((0.05, 0.001), (1.0, 0.005), (float("inf"), 0.02))
"""The pauses between two looks at the lock: one of 5 ms when the wait has lasted 50 ms, and so on."""
TURN_SECONDS = 0.25
"""How long a thread waits for its turn before it sees whether it may go on waiting. It is woken when its turn comes."""
LONGEST_LOOK_SECONDS = LOOKS_SECONDS[-1][1]
SHORT_SECONDS = 0.02
SHARE_LEFT_TO_OTHERS = 0.1
WARN_EVERY_SECONDS = 10.0

LONGEST_REMEMBERED = 4000
"""The longest statement, in characters, whose form for SQLite is remembered."""
MOST_REMEMBERED = 128

_converted: dict[tuple[str, tuple[str, ...] | None], str] = {}

GIVE_UP_SECONDS = 3.0
"""After this time without the lock, only a few threads of a process go on waiting."""

BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_BUSY_RECOVERY}

T = TypeVar("T")


class WaitingThreads:
    """The threads of this process that wait for the lock, and the time since which none of them got it.

    While one writer holds the lock for long, all threads of a web server would wait for it and nobody could read. So a
    few wait, and the others answer that the database is busy.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._line: dict[int, None] = {}
        self._since = 0.0

    def join(self, now: float) -> None:
        with self._lock:
            if not self._line:
                self._since = now
            self._line[threading.get_ident()] = None

    def leave(self, now: float, *, got_it: bool) -> None:
        with self._lock:
            self._line.pop(threading.get_ident(), None)
            if got_it:
                self._since = now

    def count(self) -> int:
        """How many threads are waiting now."""
        with self._lock:
            return len(self._line)

    def is_given_up(self, now: float, crowd: int) -> bool:
        """Whether `crowd` threads wait already and none got the lock lately: one more tries once, without waiting."""
        with self._lock:
            return len(self._line) >= crowd and now - self._since >= GIVE_UP_SECONDS

    def may_stay(self, now: float, crowd: int) -> bool:
        """Whether this thread may wait: it is among the first `crowd`, or some thread got the lock lately."""
        with self._lock:
            return now - self._since < GIVE_UP_SECONDS or threading.get_ident() in [*self._line][:crowd]


waiting = WaitingThreads()


class Turns:
    """For each database file, whose turn to write it is among the threads of this process."""

    def __init__(self) -> None:
        self._locks: dict[str, Any] = defaultdict(threading.RLock)

    def of(self, name: str) -> Any:
        """The lock of this file. A thread with two connections to it does not wait for itself."""
        return self._locks[name]

    def forget(self) -> None:
        """In a process that was forked: the threads that held them are not here."""
        self._locks.clear()


turns = Turns()
os.register_at_fork(after_in_child=turns.forget)


class PatientCursor(base.SQLiteCursorWrapper):
    """A cursor whose statements wait for the lock, up to the connection's `patience`."""

    wrapper: "DatabaseWrapper"

    def execute(self, query: str, params: Any = None) -> Any:
        if not query.lstrip().startswith(("SELECT", "BEGIN")):
            self.wrapper.wait_within_lock_outside_transactions()
        plain = super().execute
        return self.wrapper.patiently(lambda: plain(query, params))

    def executemany(self, query: str, param_list: Any) -> Any:
        self.wrapper.wait_within_lock_outside_transactions()
        return super().executemany(query, param_list)

    def convert_query(self, query: str, *, param_names: Iterable[str] | None = None) -> str:
        """With SQLite's placeholders. Almost every statement has been here before."""
        key = query, None if param_names is None else tuple(param_names)
        known = _converted.get(key)
        if known is None:
            known = str(super().convert_query(query, param_names=param_names))
            if len(query) <= LONGEST_REMEMBERED:
                if len(_converted) >= MOST_REMEMBERED:
                    _converted.clear()
                _converted[key] = known
        return known


class DatabaseWrapper(base.DatabaseWrapper):
    """The option `patience` is how many seconds to wait for the lock in all.

    SQLite itself waits up to `timeout` while a connection is opened, and never afterwards.

    With `crowd`, patience is for all statements of a request together, and only so many threads of the process wait
    when the lock stays taken (see WaitingThreads).

    A commit waits for the disk once the lock is given to the next writer (see `syncing`), or not at all while
    `waits_for_disk` is off. A statement outside a transaction waits within the lock, as SQLite does it.
    """

    waits_for_disk = True
    _waits_within_lock = True
    log: SyncedLog | None = None
    patience = 0.0
    crowd = 0
    waited = 0.0
    began_at = 0.0
    ended_at = 0.0
    turn: Any = None

    def get_connection_params(self) -> dict[str, Any]:
        params = super().get_connection_params()
        self.patience = float(params.pop("patience", 0.0))
        self.crowd = int(params.pop("crowd", 0))
        return params

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        """Open the file, readable by nobody else: created here first, since SQLite would take the default mode."""
        name = str(conn_params["database"])
        if ":memory:" not in name and not name.startswith("file:"):
            close_database(Path(name))
        with timed_wait(WaitFor.CONNECTION):
            connection = super().get_new_connection(conn_params)
        connection.execute("PRAGMA busy_timeout = 0")
        self._waits_within_lock = True
        has_log = connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        self.log = logs.of(name) if has_log else None
        return connection

    def create_cursor(self, name: str | None = None) -> PatientCursor:
        cursor = self.connection.cursor(factory=PatientCursor)
        cursor.wrapper = self
        return cursor

    def patiently(self, do: Callable[[], T]) -> T:
        """Run a statement, and retry while another process writes. A refused statement has changed nothing.

        A reading transaction that has to write after another one did can never get the lock, so its error is raised.
        """
        try:
            return do()
        except sqlite3.OperationalError as problem:
            if problem.sqlite_errorcode not in BUSY:
                raise
            answers: list[T] = []
            if self._wait(lambda seconds: _looked(do, seconds, answers)):
                return answers[0]
            raise

    def _wait(self, attempt: Callable[[float], bool]) -> bool:
        """Call `attempt` with the seconds that it may take until it succeeds, or until patience ends."""
        start = warned_at = now = time.monotonic()
        if self.crowd and waiting.is_given_up(start, self.crowd):
            return False
        waiting.join(start)
        got_it = False
        try:
            while not got_it and self._may_wait(now, start):
                pause = next(pause for until, pause in LOOKS_SECONDS if now - start < until)
                got_it = attempt(pause)
                now = time.monotonic()
                if not got_it and now - warned_at >= WARN_EVERY_SECONDS:
                    log.warning("Others have been writing to the database for %.0f s. Still waiting.", now - start)
                    warned_at = now
        finally:
            waiting.leave(now, got_it=got_it)
            self.waited += now - start
            say_waited(WaitFor.LOCK, now - start)
        return got_it

    def _may_wait(self, now: float, start: float) -> bool:
        if not self.crowd:
            return now - start < self.patience
        return self.waited + now - start < self.patience and waiting.may_stay(now, self.crowd)

    def close_if_unusable_or_obsolete(self) -> None:
        """Between requests: reset the time waited."""
        self.waited = 0.0
        super().close_if_unusable_or_obsolete()

    def _start_transaction_under_autocommit(self) -> None:
        self._leave_a_gap()
        self._take_turn()
        try:
            self._wait_within_lock(False)
            super()._start_transaction_under_autocommit()  # type: ignore[misc]  # the stubs do not know it
        except BaseException:
            self._end_turn()
            raise
        self.began_at = time.monotonic()

    def _take_turn(self) -> None:
        turn = turns.of(str(self.settings_dict["NAME"]))
        if not turn.acquire(blocking=False) and not self._wait(lambda _: turn.acquire(timeout=TURN_SECONDS)):
            raise OperationalError("database is locked") from _busy()
        self.turn = turn

    def _end_turn(self) -> None:
        turn, self.turn = self.turn, None
        if turn is not None:
            turn.release()

    def _leave_a_gap(self) -> None:
        """Leave a tenth of the time to others; after a long write, a gap longer than their longest look."""
        wrote_seconds = self.ended_at - self.began_at
        if wrote_seconds < SHORT_SECONDS:
            return
        gap = min(wrote_seconds * SHARE_LEFT_TO_OTHERS, LONGEST_LOOK_SECONDS * 1.1)
        rest = self.ended_at + gap - time.monotonic()
        if rest > 0:
            time.sleep(rest)

    def commit(self) -> None:
        super().commit()
        self._end_transaction()
        if self.log is not None and self.waits_for_disk:
            with self.wrap_database_errors:
                self.log.wait()

    def rollback(self) -> None:
        super().rollback()
        self._end_transaction()

    def _end_transaction(self) -> None:
        self.ended_at = time.monotonic()
        self._end_turn()

    def wait_within_lock_outside_transactions(self) -> None:
        """Before a statement that may write: when it is a transaction of its own, SQLite has to wait for the disk."""
        if not self._waits_within_lock and self.connection is not None and not self.connection.in_transaction:
            self._wait_within_lock(True)

    def _wait_within_lock(self, waits: bool) -> None:
        """Whether SQLite waits for the disk at each commit. It can be changed outside transactions only."""
        if self.log is not None and self._waits_within_lock is not waits:
            self.connection.execute(f"PRAGMA synchronous={'FULL' if waits else 'NORMAL'}")
            self._waits_within_lock = waits

    def close(self) -> None:
        """Also after a commit and a rollback that both failed."""
        super().close()
        if not self.in_atomic_block:
            self._end_turn()


def _looked(do: Callable[[], T], seconds: float, answers: list[T]) -> bool:
    """Pause, then run the statement; False while it is refused because another process writes."""
    time.sleep(seconds)
    try:
        answers.append(do())
    except sqlite3.OperationalError as problem:
        if problem.sqlite_errorcode not in BUSY:
            raise
        return False
    return True


def _busy() -> sqlite3.OperationalError:
    """What SQLite raises when the lock is taken."""
    problem = sqlite3.OperationalError("database is locked")
    problem.sqlite_errorcode = sqlite3.SQLITE_BUSY
    problem.sqlite_errorname = "SQLITE_BUSY"
    return problem
