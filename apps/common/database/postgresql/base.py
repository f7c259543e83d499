"""Django's PostgreSQL backend, whose connections stay open and are noticed to be dead before they are used."""

import select
import time
from typing import Any

from django.db.backends.postgresql import base

from apps.common.database.time_waited import WaitFor, timed_wait

ServerBindingCursor: Any = base.ServerBindingCursor  # the stubs do not know its methods

TRUSTED_SECONDS = 10.0
"""For how long a connection that has answered is believed to be alive unless its socket says otherwise."""


class DatabaseWrapper(base.DatabaseWrapper):
    """Statements of a PreparedCursor are prepared, and planned once and not for each value. Django's own are
    neither: they contain their values.

    A server that ends closes its sockets, so `CONN_HEALTH_CHECKS` looks at the socket. It costs a trip to the server
    only when the connection was not used for some seconds: what lies between may have dropped it without a word.
    """

    answered_at = 0.0
    health_check_done: bool  # Django's; its stubs give no type that mypy finds in every order of modules

    def get_connection_params(self) -> dict[str, Any]:
        params = super().get_connection_params()
        params["options"] = f"{params.get('options', '')} -c plan_cache_mode=force_generic_plan".strip()
        params["prepare_threshold"] = params["prepare_threshold"] or 1
        return params

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        with timed_wait(WaitFor.CONNECTION):
            return super().get_new_connection(conn_params)

    def close_if_health_check_failed(self) -> None:
        if self.health_check_done:
            return
        now = time.monotonic()
        if now - self.answered_at < TRUSTED_SECONDS and self.connection is not None and _is_quiet(self.connection):
            self.health_check_done = True
            return
        super().close_if_health_check_failed()
        self.answered_at = now


def _is_quiet(connection: Any) -> bool:
    """Whether the server has said nothing since its last answer: neither that it ends nor that it has ended."""
    if connection.closed:
        return False
    look = select.poll()
    look.register(connection.pgconn.socket, select.POLLIN)
    return not look.poll(0)


class PreparedCursor(ServerBindingCursor):
    """Sends statements and values apart, and has each statement prepared by the server from its first run on.

    It is for one connection; psycopg forgets the oldest of a hundred.
    """

    def execute(self, query: Any, params: Any = None, **more: Any) -> Any:
        return super().execute(query, params, prepare=True, **more)
