"""Django's SQLite, with manners: who cannot write yet waits, says so and goes on; who wrote long lets others in.

SQLite lets one write at a time and keeps no queue. Whoever has to wait looks again every tenth of a second, so a
process that begins its next transaction as soon as the last one ends is found writing at every look: the others fail
with "database is locked" in the end, though no transaction of it lasted long.
"""

import logging
import sqlite3
import time
from collections.abc import Callable
from typing import Any, TypeVar

from django.db.backends.sqlite3 import base

log = logging.getLogger(__name__)

LONGEST_LOOK_SECONDS = 0.1
"""What SQLite sleeps at most between two looks at the lock."""
SHORT_SECONDS = 0.02
SHARE_LEFT_TO_OTHERS = 0.1
TELL_EVERY_SECONDS = 10.0

T = TypeVar("T")


class PatientCursor(base.SQLiteCursorWrapper):
    """A cursor whose statements wait for the lock as long as the connection is patient."""

    patiently: Callable[[Callable[[], Any]], Any]

    def execute(self, query: str, params: Any = None) -> Any:
        plain = super().execute
        return self.patiently(lambda: plain(query, params))


class DatabaseWrapper(base.DatabaseWrapper):
    """The option `patience` says how many seconds to wait in all; `timeout` is how long SQLite waits at a time."""

    patience = 0.0
    began_at = 0.0
    ended_at = 0.0

    def get_connection_params(self) -> dict[str, Any]:
        params = super().get_connection_params()
        self.patience = float(params.pop("patience", 0.0))
        return params

    def create_cursor(self, name: str | None = None) -> PatientCursor:
        cursor = self.connection.cursor(factory=PatientCursor)
        cursor.patiently = self.patiently
        return cursor

    def patiently(self, do: Callable[[], T]) -> T:
        """Do a statement, again and again while another process writes. One that was refused has done nothing.

        A reading transaction that has to write after somebody else did is refused for good, so that one is raised.
        """
        start = told = time.monotonic()
        while True:
            try:
                return do()
            except sqlite3.OperationalError as problem:
                now = time.monotonic()
                if problem.sqlite_errorcode != sqlite3.SQLITE_BUSY or now - start >= self.patience:
                    raise
            if now - told >= TELL_EVERY_SECONDS:
                log.warning("Others have been writing to the database for %.0f s. Waiting goes on.", now - start)
                told = now
            time.sleep(LONGEST_LOOK_SECONDS)

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
