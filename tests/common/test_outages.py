"""Faults of database and disk, told apart from all others."""

import errno
import sqlite3

import psycopg
import pytest
from django.db import DatabaseError, InterfaceError, OperationalError, connection

from apps.common.web.outages import AWAY, BUSY, FULL, UNWRITABLE, outage_of


def sqlite_error(code: int) -> sqlite3.OperationalError:
    error = sqlite3.OperationalError("from the driver")
    error.sqlite_errorcode = code
    return error


def wrapped(kind: type[DatabaseError | InterfaceError], cause: Exception) -> Exception:
    """As Django raises what a driver raised."""
    error = kind("from Django")
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("cause", "outage"),
    [
        (sqlite_error(sqlite3.SQLITE_BUSY), BUSY),
        (sqlite_error(sqlite3.SQLITE_BUSY_SNAPSHOT), BUSY),
        (sqlite_error(sqlite3.SQLITE_FULL), FULL),
        (sqlite_error(sqlite3.SQLITE_IOERR_WRITE), UNWRITABLE),
        (sqlite_error(sqlite3.SQLITE_READONLY), UNWRITABLE),
        (sqlite_error(sqlite3.SQLITE_ERROR), None),
        (psycopg.errors.DiskFull("x"), FULL),
        (psycopg.errors.LockNotAvailable("x"), BUSY),
        (psycopg.errors.AdminShutdown("x"), AWAY),
        (psycopg.errors.CannotConnectNow("x"), AWAY),
        (psycopg.OperationalError("server closed the connection unexpectedly"), AWAY),
        (psycopg.errors.UndefinedTable("x"), None),
    ],
    ids=repr,
)
def test_the_cause_from_the_driver_decides_the_kind_of_outage(cause, outage):
    assert outage_of(wrapped(OperationalError, cause)) is outage


def test_a_closed_connection_is_a_database_that_is_away():
    assert outage_of(wrapped(InterfaceError, psycopg.InterfaceError("the connection is closed"))) is AWAY


def test_an_error_is_classified_by_its_cause():
    later = RuntimeError("The file could not be kept.")
    later.__context__ = OSError(errno.ENOSPC, "No space left on device")

    assert outage_of(later) is FULL


@pytest.mark.parametrize(
    "error", [OSError(errno.ENOENT, "x"), ValueError("x"), OperationalError("no such table"), None]
)
def test_other_faults_are_none(error):
    assert outage_of(error) is None


@pytest.mark.django_db
def test_a_wrong_statement_is_not_an_outage():
    with pytest.raises(DatabaseError) as wrong, connection.cursor() as cursor:
        cursor.execute("SELECT nothing FROM nowhere")

    assert outage_of(wrong.value) is None
