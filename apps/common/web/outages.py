"""Outages in which nothing can be saved, and their messages: a locked or lost database, a full disk."""

import errno
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.db import InterfaceError, OperationalError


@dataclass(frozen=True)
class Outage:
    """`retry_after` is in seconds."""

    code: str
    title: str
    detail: str
    retry_after: int


BUSY = Outage(
    "database_busy",
    "Busy",
    "Something long is being written to the database, so this was not saved. Reading works. Try again in a moment.",
    5,
)
FULL = Outage(
    "disk_full",
    "The disk is full",
    "The server's disk is full, so this was not saved. Reading works. Whoever runs Karat has to make room first.",
    60,
)
UNWRITABLE = Outage(
    "disk_fault",
    "The disk cannot be written to",
    "The server cannot write to its disk, so this was not saved. Whoever runs Karat finds the reason in the log.",
    60,
)
AWAY = Outage(
    "database_away",
    "The database does not answer",
    "Karat cannot reach its database, so this was not done. Nothing that was saved is lost. Try again in a moment.",
    5,
)

SQLITE = {
    sqlite3.SQLITE_BUSY: BUSY,
    sqlite3.SQLITE_LOCKED: BUSY,
    sqlite3.SQLITE_FULL: FULL,
    sqlite3.SQLITE_IOERR: UNWRITABLE,
    sqlite3.SQLITE_READONLY: UNWRITABLE,
    sqlite3.SQLITE_CANTOPEN: AWAY,
}
POSTGRESQL = {
    "53100": FULL,
    "55P03": BUSY,  # waited for a row longer than a request may
    "40P01": BUSY,  # two waited for each other
    "53300": AWAY,
    "57P01": AWAY,
    "57P02": AWAY,
    "57P03": AWAY,
    "25006": UNWRITABLE,
}
FILES = {errno.ENOSPC: FULL, errno.EDQUOT: FULL, errno.EROFS: UNWRITABLE}


def outage_of(error: BaseException | None) -> Outage | None:
    """The outage of database or disk that caused an error; None for any other error."""
    for one in _chain(error):
        if outage := _outage(one):
            return outage
    return None


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """The error and its causes, the innermost first: the driver's error is the most specific."""
    errors: list[BaseException] = []
    while error is not None and error not in errors:
        errors.append(error)
        error = error.__cause__ or error.__context__
    return reversed(errors)


def _outage(error: Any) -> Outage | None:
    if isinstance(error, sqlite3.Error):
        return SQLITE.get(getattr(error, "sqlite_errorcode", 0) & 0xFF)
    if isinstance(error, OSError):
        return FILES.get(error.errno or 0)
    if isinstance(error, OperationalError | InterfaceError) and error.__cause__ is not None:
        return _lost(error.__cause__)
    return None


def _lost(cause: Any) -> Outage | None:
    """PostgreSQL's errors have codes; a broken connection, and a pool that got none, do not."""
    if isinstance(cause, sqlite3.Error):
        return None
    state = getattr(cause, "sqlstate", None)
    if state is None or state.startswith("08"):
        return AWAY
    return POSTGRESQL.get(state)
