"""Connections that stay open after the server was started again, and statements that are planned once."""

from collections.abc import Iterator

import pytest
from django.db import connection
from django.db.backends.base.base import BaseDatabaseWrapper

from apps.common.database import statements

pytestmark = [pytest.mark.postgres, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def kept() -> Iterator[BaseDatabaseWrapper]:
    """A connection that stays open between requests."""
    database = connection.copy(alias="kept")
    database.settings_dict |= {"CONN_HEALTH_CHECKS": True, "CONN_MAX_AGE": None}
    yield database
    database.close()


def session(database: BaseDatabaseWrapper) -> int:
    """The server's process behind the connection, in the next request."""
    database.close_if_unusable_or_obsolete()
    with database.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        return int(cursor.fetchone()[0])


def drop_connections() -> int:
    """End every other session at this database, and wait until they have ended."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(pg_terminate_backend(pid, 5000)) FROM pg_stat_activity"
            " WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid()"
        )
        return int(cursor.fetchone()[0])


def test_a_request_gets_over_a_connection_that_the_server_has_closed(kept):
    before = session(kept)
    assert drop_connections() >= 1  # a thread of another test may still be closing its own

    assert session(kept) != before


def test_prepared_statements_get_over_a_connection_that_the_server_has_closed(kept, monkeypatch):
    monkeypatch.setattr(statements, "connection", kept)
    before = session(kept)
    assert drop_connections() >= 1  # a thread of another test may still be closing its own

    kept.close_if_unusable_or_obsolete()
    with statements.prepared_cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        assert cursor.fetchone()[0] != before


def test_a_statement_is_planned_once_whatever_its_values():
    with statements.prepared_cursor() as cursor:
        for value in range(8):
            cursor.execute("SELECT %s + 4711", [value])
        cursor.execute(
            "SELECT generic_plans, custom_plans FROM pg_prepared_statements WHERE statement LIKE 'SELECT $1 + 4711'"
        )
        assert cursor.fetchall() == [(7, 0)]
