"""Connections that stay open, after the server was started again and while nothing has happened."""

from collections.abc import Iterator

import pytest
from django.conf import settings
from django.db import connection, connections

from apps.common.database import statements
from apps.common.database.postgresql import base
from apps.common.database.postgresql.base import DatabaseWrapper

pytestmark = [pytest.mark.postgres, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def kept() -> Iterator[DatabaseWrapper]:
    """A connection that stays open between requests."""
    config = settings.DATABASES["default"] | {
        "NAME": connection.settings_dict["NAME"],
        "CONN_HEALTH_CHECKS": True,
        "CONN_MAX_AGE": None,
    }
    database = DatabaseWrapper(connections.configure_settings({"default": config})["default"], alias="kept")
    yield database
    database.close()


def session(database: DatabaseWrapper) -> int:
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


def checks(database: DatabaseWrapper, monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """A list that grows with each trip to the server that only sees whether it is there."""
    made: list[bool] = []
    asked = database.is_usable

    def is_usable() -> bool:
        made.append(asked())
        return made[-1]

    monkeypatch.setattr(database, "is_usable", is_usable)
    return made


def test_a_request_gets_over_a_connection_that_the_server_has_closed(kept):
    before = session(kept)
    assert drop_connections() >= 1  # a thread of another test may still be closing its own

    assert session(kept) != before


def test_a_connection_that_answers_is_used_again_without_a_trip(kept, monkeypatch):
    before, made = session(kept), checks(kept, monkeypatch)
    assert session(kept) == before  # the first one that it is used again costs a trip

    made.clear()
    assert {session(kept) for _ in range(5)} == {before}
    assert made == []


def test_a_connection_that_was_not_used_for_seconds_is_asked(kept, monkeypatch):
    before, made = session(kept), checks(kept, monkeypatch)
    monkeypatch.setattr(base, "TRUSTED_SECONDS", -1.0)

    assert session(kept) == before
    assert made == [True]


def test_a_connection_with_an_error_behind_it_is_asked(kept, monkeypatch):
    session(kept)
    made = checks(kept, monkeypatch)
    kept.errors_occurred = True

    session(kept)
    assert made == [True]


def test_prepared_statements_get_over_a_connection_that_the_server_has_closed(kept, monkeypatch):
    monkeypatch.setattr(statements, "connection", kept)
    before = session(kept)
    assert drop_connections() >= 1  # a thread of another test may still be closing its own

    kept.close_if_unusable_or_obsolete()
    with statements.prepared_cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        assert cursor.fetchone()[0] != before
