"""Waiting until a commit is on the disk, once for all who committed before the wait began.

SQLite waits for the disk within its lock, so grades are stored one after the other, however many people wait: 250 a
second on a disk that takes 4 ms. Here a transaction is written to SQLite's log (`-wal`), the next writer goes on, and
only then does the thread wait for the disk. What others have committed by then is made safe by the same wait.

Nobody is told that something is stored before it is on the disk. Others may read it a moment earlier. After a power cut
SQLite keeps the log up to the first transaction that is not whole, so what somebody was told never lacks what it was
built on.
"""

import os
import sqlite3
import threading
import time
from contextlib import nullcontext

from apps.common.database.long_waits import long_wait
from apps.common.database.time_waited import WaitFor, timed_wait

LONG_SECONDS = 0.001
"""A disk that took longer than this the last time is waited for as for something long."""

_sync = getattr(os, "fdatasync", os.fsync)


class SyncedLog:
    """The log of one database file, as far as this process has written it."""

    def __init__(self, database: str) -> None:
        self._path = f"{database}-wal"
        self._counting = threading.Lock()
        self._waiting = threading.Lock()
        self._committed = 0
        self._safe = 0
        self._has_failed = False
        self._took = 0.0

    def wait(self) -> None:
        """Return when everything that this thread has committed is on the disk.

        Raises `sqlite3.OperationalError` when the disk fails, then and ever after: what the system still had to write
        may be lost, and a later attempt would succeed without it.
        """
        with self._counting:
            self._committed += 1
            own = self._committed
        is_long = self._took > LONG_SECONDS
        with timed_wait(WaitFor.DISK), long_wait() if is_long else nullcontext(), self._waiting:
            if not self._has_failed and self._safe < own:
                with self._counting:
                    reached = self._committed
                self._write()
                self._safe = reached
            if self._has_failed:
                raise _disk_error()

    def _write(self) -> None:
        try:
            file = os.open(self._path, os.O_RDONLY)
        except FileNotFoundError:
            return  # SQLite has moved it to the database, which it waits for, and removed it
        except OSError as problem:
            raise _disk_error() from problem
        began = time.monotonic()
        try:
            _sync(file)
        except OSError:
            self._has_failed = True
        finally:
            self._took = time.monotonic() - began
            os.close(file)


class SyncedLogs:
    """The logs by the names of their databases."""

    def __init__(self) -> None:
        self._logs: dict[str, SyncedLog] = {}

    def of(self, database: str) -> SyncedLog:
        return self._logs.setdefault(database, SyncedLog(database))

    def forget(self) -> None:
        """In a process that was forked: the threads that wait are not here."""
        self._logs.clear()


logs = SyncedLogs()
os.register_at_fork(after_in_child=logs.forget)


def _disk_error() -> sqlite3.OperationalError:
    """What SQLite raises when the disk fails at a commit."""
    problem = sqlite3.OperationalError("disk I/O error")
    problem.sqlite_errorcode = sqlite3.SQLITE_IOERR_FSYNC
    problem.sqlite_errorname = "SQLITE_IOERR_FSYNC"
    return problem
