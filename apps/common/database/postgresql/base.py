"""Django's PostgreSQL backend, whose connection pool recovers from a restart of the server at the first request.

psycopg's pool checks a connection when it gives it out. After a restart all its connections are dead, and it discovers
that one by one, with growing pauses (0, 0, 1 s, 2 s), until a request that is alone in its process times out. Here the
first dead connection empties the pool.
"""

from typing import Any

from django.db.backends.postgresql import base
from psycopg import OperationalError
from psycopg_pool import ConnectionPool

ServerBindingCursor: Any = base.ServerBindingCursor  # the stubs do not know its methods


class DatabaseWrapper(base.DatabaseWrapper):
    """Checks pooled connections by itself, so `CONN_HEALTH_CHECKS` is off where there is a pool.

    Statements of a PreparedCursor are prepared, and planned once and not for each value. Django's own are
    neither: they contain their values.
    """

    def get_connection_params(self) -> dict[str, Any]:
        params = super().get_connection_params()
        params["options"] = f"{params.get('options', '')} -c plan_cache_mode=force_generic_plan".strip()
        params["prepare_threshold"] = params["prepare_threshold"] or 1
        return params

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


class PreparedCursor(ServerBindingCursor):
    """Sends statements and values apart, and has each statement prepared by the server from its first run on.

    It is for one connection; psycopg forgets the oldest of a hundred.
    """

    def execute(self, query: Any, params: Any = None, **more: Any) -> Any:
        return super().execute(query, params, prepare=True, **more)
