"""Statements that run thousands of times a day, written out in SQL and planned once."""

from typing import Any

from django.db import connection
from django.db.backends.utils import CursorWrapper


def prepared_cursor() -> CursorWrapper:
    """A cursor whose statements PostgreSQL parses and plans once for each connection; on SQLite an ordinary one.

    Django's cursor puts the values into the text of a statement, which is a new one for the server each time.
    """
    plain = connection.cursor()
    if connection.vendor != "postgresql":
        return plain
    from django.db.backends.postgresql.base import ServerBindingCursor  # only where psycopg is used

    bound: Any = ServerBindingCursor  # the stubs do not know its methods
    cursor = bound(plain.connection)
    return connection.make_debug_cursor(cursor) if connection.queries_logged else connection.make_cursor(cursor)
