"""Statements that run thousands of times a day, written out in SQL that both databases share, and planned once."""

import re
from collections.abc import Mapping
from datetime import datetime
from functools import lru_cache
from typing import Any, TypeVar

from django.db import connection, models
from django.db.backends.utils import CursorWrapper

M = TypeVar("M", bound=models.Model)
LARGEST_KEY = 2**63 - 1
"""No row has a larger one, and SQLite takes none."""
LOCK = re.compile(r"\[(FOR [A-Z a-z]+)\]")


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


def rows_of(cursor: CursorWrapper, statement: str, values: Mapping[str, Any]) -> list[tuple[Any, ...]]:
    """What a statement returns.

    `[FOR UPDATE]` and the like are the only words that the databases do not share: SQLite has no rows to lock, for a
    transaction that writes is alone.
    """
    run(cursor, statement, values)
    return cursor.fetchall()


def run(cursor: CursorWrapper, statement: str, values: Mapping[str, Any]) -> None:
    """Execute a statement as `rows_of` does; what it returns is not read."""
    cursor.execute(_for_this_database(statement, locks=connection.features.has_select_for_update), values)


def row_of(model: type[M], values: Mapping[str, Any]) -> M:
    """A row as Django would read it, of columns by name; the others are read when asked for."""
    names = [field.attname for field in model._meta.concrete_fields if field.attname in values]  # in this order
    return model.from_db(connection.alias, names, [values[name] for name in names])


@lru_cache(maxsize=256)
def _for_this_database(statement: str, *, locks: bool) -> str:
    return LOCK.sub(r"\1" if locks else "", statement)


def time_value(at: datetime) -> Any:
    """A time as both databases store it."""
    return connection.ops.adapt_datetimefield_value(at)
