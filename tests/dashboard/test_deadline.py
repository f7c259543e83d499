"""Reading with a deadline: whatever has become of the database, somebody gets an answer."""

import threading

import pytest
from django.db import DatabaseError, OperationalError, connection

from apps.dashboard.pages import metrics
from apps.dashboard.pages.metrics import read_in_time

pytestmark = [pytest.mark.postgres, pytest.mark.django_db(transaction=True)]


def asked() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
        return cursor.fetchone()[0]


def test_what_is_read_in_time_is_returned():
    assert read_in_time(asked) == 1


def test_what_the_database_refuses_is_raised():
    def broken() -> None:
        with connection.cursor() as cursor:
            cursor.execute("SELECT nothing")

    with pytest.raises(DatabaseError, match="nothing"):
        read_in_time(broken)


def test_a_database_that_is_silent_is_not_waited_for():
    woken = threading.Event()

    with pytest.raises(OperationalError, match="has not answered for"):
        read_in_time(woken.wait, seconds=0.01)

    woken.set()


def test_those_who_come_while_several_wait_are_told_at_once():
    woken = threading.Event()
    for _ in range(metrics.MOST_THREADS):
        with pytest.raises(OperationalError):
            read_in_time(woken.wait, seconds=0.01)

    with pytest.raises(OperationalError, match="those who asked before"):
        read_in_time(asked, seconds=60)

    woken.set()
    for thread in threading.enumerate():
        if thread.name == "reads-in-time":
            thread.join()
    assert read_in_time(asked) == 1


def test_no_connection_is_left_open():
    def own() -> int:
        asked()
        return connection.connection.info.backend_pid

    pid = read_in_time(own)
    for thread in threading.enumerate():
        if thread.name == "reads-in-time":
            thread.join()

    with connection.cursor() as cursor:
        cursor.execute("SELECT COUNT(*) FROM pg_stat_activity WHERE pid = %s AND state = 'active'", [pid])
        assert cursor.fetchone() == (0,)
