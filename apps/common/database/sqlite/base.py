"""Django's SQLite backend with fair locking: writers wait for the lock, and long writers leave gaps for others.

SQLite allows one writer at a time and has no queue. A waiting process polls the lock every tenth of a second, so a
process that begins its next transaction as soon as the last one ends holds the lock at every poll: the others finally
fail with "database is locked", though none of its transactions lasted long.
"""

import logging
import sqlite3
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from django.db.backends.sqlite3 import base

from apps.common.files.private import close_database

log = logging.getLogger(__name__)

LONGEST_LOOK_SECONDS = 0.1
"""The longest pause of SQLite between two attempts to take the lock."""
SHORT_SECONDS = 0.02
SHARE_LEFT_TO_OTHERS = 0.1
WARN_EVERY_SECONDS = 10.0

GIVE_UP_SECONDS = 3.0
"""After this time without the lock, only a few threads of a process go on waiting."""

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

    def is_given_up(self, now: float, crowd: int) -> bool:
        """Whether `crowd` threads wait already and none got the lock lately: one more tries once, without waiting."""
        with self._lock:
            return len(self._line) >= crowd and now - self._since >= GIVE_UP_SECONDS

    def may_stay(self, now: float, crowd: int) -> bool:
        """Whether this thread may wait: it is among the first `crowd`, or some thread got the lock lately."""
        with self._lock:
            return now - self._since < GIVE_UP_SECONDS or threading.get_ident() in [*self._line][:crowd]


waiting = WaitingThreads()


class PatientCursor(base.SQLiteCursorWrapper):
    """A cursor whose statements wait for the lock, up to the connection's `patience`."""

    patiently: Callable[[Callable[[], Any]], Any]

    def execute(self, query: str, params: Any = None) -> Any:
        plain = super().execute
        return self.patiently(lambda: plain(query, params))


class DatabaseWrapper(base.DatabaseWrapper):
    """The option `patience` is how many seconds to wait in all; `timeout` is how long SQLite waits at a time.

    With `crowd`, patience is for all statements of a request together, and only so many threads of the process wait
    when the lock stays taken (see WaitingThreads).
    """

    patience = 0.0
    busy_timeout = 0.0
    crowd = 0
    waited = 0.0
    began_at = 0.0
    ended_at = 0.0

    def get_connection_params(self) -> dict[str, Any]:
        params = super().get_connection_params()
        self.patience = float(params.pop("patience", 0.0))
        self.crowd = int(params.pop("crowd", 0))
        self.busy_timeout = float(params.get("timeout", 0.0))
        return params

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        """Open the file, readable by nobody else: created here first, since SQLite would take the default mode."""
        name = str(conn_params["database"])
        if ":memory:" not in name and not name.startswith("file:"):
            close_database(Path(name))
        return super().get_new_connection(conn_params)

    def create_cursor(self, name: str | None = None) -> PatientCursor:
        cursor = self.connection.cursor(factory=PatientCursor)
        cursor.patiently = self.patiently
        return cursor

    def patiently(self, do: Callable[[], T]) -> T:
        """Run a statement, and retry while another process writes. A refused statement has changed nothing.

        A reading transaction that has to write after another one did can never get the lock, so its error is raised.
        """
        start = warned_at = time.monotonic()
        is_waiting = got_it = False
        tries_once = bool(self.crowd) and waiting.is_given_up(start, self.crowd)
        if tries_once:
            self._set_busy_timeout(0.0)
        try:
            while True:
                try:
                    answer = do()
                    got_it = True
                    return answer
                except sqlite3.OperationalError as problem:
                    now = time.monotonic()
                    if problem.sqlite_errorcode != sqlite3.SQLITE_BUSY:
                        raise
                    if not is_waiting:
                        waiting.join(start)
                        is_waiting = True
                    if not self._may_wait(now, start):
                        raise
                if now - warned_at >= WARN_EVERY_SECONDS:
                    log.warning(
                        "Other processes have been writing to the database for %.0f s. Still waiting.", now - start
                    )
                    warned_at = now
                time.sleep(LONGEST_LOOK_SECONDS)
        finally:
            if is_waiting:
                end = time.monotonic()
                waiting.leave(end, got_it=got_it)
                self.waited += end - start
            if tries_once:
                self._set_busy_timeout(self.busy_timeout)

    def _set_busy_timeout(self, seconds: float) -> None:
        """How long SQLite itself waits for the lock before it raises SQLITE_BUSY."""
        self.connection.execute(f"PRAGMA busy_timeout = {seconds * 1000:.0f}")

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
        super()._start_transaction_under_autocommit()  # type: ignore[misc]  # the stubs do not know it
        self.began_at = time.monotonic()

    def _leave_a_gap(self) -> None:
        """Leave a tenth of the time to others; after a second of writing, a gap longer than their polling interval."""
        wrote_seconds = self.ended_at - self.began_at
        if wrote_seconds < SHORT_SECONDS:
            return
        gap = min(wrote_seconds * SHARE_LEFT_TO_OTHERS, LONGEST_LOOK_SECONDS * 1.1)
        rest = self.ended_at + gap - time.monotonic()
        if rest > 0:
            time.sleep(rest)

    def commit(self) -> None:
        super().commit()
        self.ended_at = time.monotonic()

    def rollback(self) -> None:
        super().rollback()
        self.ended_at = time.monotonic()
