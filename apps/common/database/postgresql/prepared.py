"""A cursor that sends statements and values apart, and has each statement prepared by the server."""

from typing import Any

from django.db.backends.postgresql import base

ServerBindingCursor: Any = base.ServerBindingCursor  # the stubs do not know its methods


class PreparedCursor(ServerBindingCursor):
    """Prepared from its first run on, for its connection; psycopg forgets the oldest of a hundred."""

    def execute(self, query: Any, params: Any = None, **more: Any) -> Any:
        return super().execute(query, params, prepare=True, **more)
