"""Django's PostgreSQL, whose pool gets over a restart of the server at the first request.

psycopg's pool checks a connection when it hands it out. After a restart all that lie in it are dead, and it finds that
out one by one: at once, at once, a second later, two seconds later, until a request that is alone in its process has
waited out its time. Here the first dead connection empties the pool.
"""

from typing import Any

from django.db.backends.postgresql import base
from psycopg import OperationalError
from psycopg_pool import ConnectionPool


class DatabaseWrapper(base.DatabaseWrapper):
    """Checks pooled connections by itself, so `CONN_HEALTH_CHECKS` is off where there is a pool."""

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        connection = super().get_new_connection(conn_params)
        if not self.pool:
            return connection
        try:
            ConnectionPool.check_connection(connection)
        except OperationalError:
            self.pool.drain()
            self.pool.putconn(connection)
            return super().get_new_connection(conn_params)
        return connection
