"""The pool of connections after the server was started again."""

from collections.abc import Iterator

import pytest
from django.conf import settings
from django.db import connection, connections

from apps.common.database.postgresql.base import DatabaseWrapper

pytestmark = [pytest.mark.postgres, pytest.mark.django_db(transaction=True)]
IN_THE_POOL = 4


@pytest.fixture
def pooled() -> Iterator[DatabaseWrapper]:
    """A database whose pool is full."""
    pool = {"min_size": IN_THE_POOL, "max_size": IN_THE_POOL, "timeout": 5}
    config = settings.DATABASES["default"] | {
        "NAME": connection.settings_dict["NAME"],
        "CONN_HEALTH_CHECKS": False,
        "OPTIONS": {"pool": pool},
    }
    database = DatabaseWrapper(connections.configure_settings({"default": config})["default"], alias="pooled")
    database.pool.open(wait=True)
    yield database
    database.close_pool()


def session(database: DatabaseWrapper) -> int:
    """The server's process behind the next connection, which goes back to the pool."""
    given = database.get_new_connection(database.get_connection_params())
    process = given.execute("SELECT pg_backend_pid()").fetchone()[0]
    database.pool.putconn(given)
    return process


def drop_connections() -> int:
    """End every other session at this database, and wait until they have ended."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(pg_terminate_backend(pid, 5000)) FROM pg_stat_activity"
            " WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid()"
        )
        return cursor.fetchone()[0]


def test_one_request_alone_gets_over_a_pool_of_dead_connections(pooled: DatabaseWrapper) -> None:
    assert drop_connections() == IN_THE_POOL

    assert session(pooled)


def test_a_connection_that_answers_is_used_again(pooled: DatabaseWrapper) -> None:
    sessions = {session(pooled) for _ in range(3 * IN_THE_POOL)}

    assert len(sessions) == IN_THE_POOL
