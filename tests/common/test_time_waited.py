"""Telling how long threads wait for the database: for SQLite's lock, for the disk, and for a connection."""

import sqlite3
import threading
from contextlib import closing

import pytest
from django.db import connection, transaction

from apps.accounts.models import User
from apps.common.database import time_waited
from apps.common.database.time_waited import WaitFor, say_waited, tell_of_time_waited, timed_wait
from tests.factories import make_user


@pytest.fixture
def told(monkeypatch) -> list[tuple[WaitFor, float]]:
    monkeypatch.setattr(time_waited, "_listeners", [])
    found: list[tuple[WaitFor, float]] = []
    tell_of_time_waited(lambda what, seconds: found.append((what, seconds)))
    return found


def test_one_listens_and_another_takes_its_place(told):
    others = []
    tell_of_time_waited(lambda what, seconds: others.append(what))

    say_waited(WaitFor.LOCK, 0.5)

    assert (told, others) == ([], [WaitFor.LOCK])


def test_a_wait_that_fails_is_told_too(told):
    with pytest.raises(OSError, match="no disk"), timed_wait(WaitFor.DISK):
        raise OSError("no disk")

    assert [what for what, _ in told] == [WaitFor.DISK]


@pytest.mark.django_db(transaction=True)
def test_opening_a_connection_is_told(told):
    connection.close()

    assert User.objects.count() == 0

    assert [what for what, _ in told] == [WaitFor.CONNECTION]
    assert told[0][1] > 0


@pytest.mark.django_db(transaction=True)
def test_a_commit_to_sqlite_tells_how_long_it_waited_for_the_disk(told):
    if connection.vendor != "sqlite":
        pytest.skip("PostgreSQL waits for its disk itself")
    with transaction.atomic():
        make_user()

    assert WaitFor.DISK in {what for what, _ in told}


@pytest.mark.django_db(transaction=True)
def test_whoever_waits_for_sqlites_lock_tells_for_how_long(told):
    if connection.vendor != "sqlite":
        pytest.skip("PostgreSQL has no such lock")
    with closing(
        sqlite3.connect(connection.settings_dict["NAME"], isolation_level=None, check_same_thread=False)
    ) as other:
        other.execute("BEGIN IMMEDIATE")
        end = threading.Timer(0.2, lambda: other.execute("ROLLBACK"))
        end.start()
        with transaction.atomic():
            make_user()
        end.join()

    waits = [seconds for what, seconds in told if what is WaitFor.LOCK]
    assert len(waits) == 1
    assert waits[0] > 0
