"""Django's SQLite, with manners: who cannot write yet waits, says so and goes on; who wrote long lets others in.

SQLite lets one write at a time and keeps no queue. Whoever has to wait looks again every tenth of a second, so a
process that begins its next transaction as soon as the last one ends is found writing at every look: the others fail
with "database is locked" in the end, though no transaction of it lasted long.
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
"""What SQLite sleeps at most between two looks at the lock."""
SHORT_SECONDS = 0.02
SHARE_LEFT_TO_OTHERS = 0.1
TELL_EVERY_SECONDS = 10.0

GIVE_UP_SECONDS = 3.0
"""How long the lock may stay away before a process leaves the waiting to a few of its threads."""

T = TypeVar("T")


class WaitingThreads:
    """The threads of this process that wait for the lock, and since when none of them got it.

    While one writer keeps the lock for long, all threads of a web server would wait for it and nobody could read. So
    a few go on waiting, and the others say that the database is busy.
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
        """Whether enough threads wait already for a lock that does not move: one more need not even look long."""
        with self._lock:
            return len(self._line) >= crowd and now - self._since >= GIVE_UP_SECONDS

    def may_stay(self, now: float, crowd: int) -> bool:
        """Whether this thread is among the first `crowd`, or the lock has moved lately."""
        with self._lock:
            return now - self._since < GIVE_UP_SECONDS or threading.get_ident() in [*self._line][:crowd]


waiting = WaitingThreads()


class PatientCursor(base.SQLiteCursorWrapper):
    """A cursor whose statements wait for the lock as long as the connection is patient."""

    patiently: Callable[[Callable[[], Any]], Any]

    def execute(self, query: str, params: Any = None) -> Any:
        plain = super().execute
        return self.patiently(lambda: plain(query, params))


class DatabaseWrapper(base.DatabaseWrapper):
    """The option `patience` says how many seconds to wait in all; `timeout` is how long SQLite waits at a time.

    With `crowd`, patience is for all statements of a request together, and only so many threads of the process wait
    on when the lock does not move (see Waiting).
    """

    patience = 0.0
    look = 0.0
    crowd = 0
    waited = 0.0
    began_at = 0.0
    ended_at = 0.0

    def get_connection_params(self) -> dict[str, Any]:
        params = super().get_connection_params()
        self.patience = float(params.pop("patience", 0.0))
        self.crowd = int(params.pop("crowd", 0))
        self.look = float(params.get("timeout", 0.0))
        return params

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        """Open the file, which nobody else may read: whoever makes it first decides who may."""
        name = str(conn_params["database"])
        if ":memory:" not in name and not name.startswith("file:"):
            close_database(Path(name))
        return super().get_new_connection(conn_params)

    def create_cursor(self, name: str | None = None) -> PatientCursor:
        cursor = self.connection.cursor(factory=PatientCursor)
        cursor.patiently = self.patiently
        return cursor

    def patiently(self, do: Callable[[], T]) -> T:
        """Do a statement, again and again while another process writes. One that was refused has done nothing.

        A reading transaction that has to write after somebody else did is refused for good, so that one is raised.
        """
        start = told = time.monotonic()
        waits = got_it = False
        hurries = bool(self.crowd) and waiting.is_given_up(start, self.crowd)
        if hurries:
            self._look_for(0.0)
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
                    if not waits:
                        waiting.join(start)
                        waits = True
                    if not self._may_wait(now, start):
                        raise
                if now - told >= TELL_EVERY_SECONDS:
                    log.warning("Others have been writing to the database for %.0f s. Waiting goes on.", now - start)
                    told = now
                time.sleep(LONGEST_LOOK_SECONDS)
        finally:
            if waits:
                end = time.monotonic()
                waiting.leave(end, got_it=got_it)
                self.waited += end - start
            if hurries:
                self._look_for(self.look)

    def _look_for(self, seconds: float) -> None:
        """How long SQLite itself waits for the lock before it says that the database is busy."""
        self.connection.execute(f"PRAGMA busy_timeout = {seconds * 1000:.0f}")

    def _may_wait(self, now: float, start: float) -> bool:
        if not self.crowd:
            return now - start < self.patience
        return self.waited + now - start < self.patience and waiting.may_stay(now, self.crowd)

    def close_if_unusable_or_obsolete(self) -> None:
        """Between requests: patience begins anew."""
        self.waited = 0.0
        super().close_if_unusable_or_obsolete()

    def _start_transaction_under_autocommit(self) -> None:
        self._let_others_in()
        super()._start_transaction_under_autocommit()  # type: ignore[misc]  # the stubs do not know it
        self.began_at = time.monotonic()

    def _let_others_in(self) -> None:
        """Leave a tenth of the time to others, and to each after a second of writing a gap that no look misses."""
        held = self.ended_at - self.began_at
        if held < SHORT_SECONDS:
            return
        gap = min(held * SHARE_LEFT_TO_OTHERS, LONGEST_LOOK_SECONDS * 1.1)
        rest = self.ended_at + gap - time.monotonic()
        if rest > 0:
            time.sleep(rest)

    def commit(self) -> None:
        super().commit()
        self.ended_at = time.monotonic()

    def rollback(self) -> None:
        super().rollback()
        self.ended_at = time.monotonic()
