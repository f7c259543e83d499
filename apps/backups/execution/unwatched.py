"""A transaction in which rows are written that have passed the guards once, where they come from.

Guards watch over what people do, and some write rows of their own, which come along. Nobody else sees the database
without them: until the end of the transaction others read it as it was, and whoever writes to these tables waits.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from django.db import connection, transaction

from apps.backups.core.rows import quoted

REFERENCES = """
SELECT conrelid::regclass::text, quote_ident(conname), pg_get_constraintdef(oid) FROM pg_constraint
 WHERE contype = 'f' AND connamespace = current_schema()::regnamespace ORDER BY conname
"""


@contextmanager
def unwatched(tables: Sequence[str]) -> Iterator[None]:
    """The triggers on rows of these tables do not run within the block, and references are checked at its end.

    Raises IntegrityError for a reference to nothing.
    """
    if connection.vendor == "sqlite":
        with _on_sqlite():
            yield
    else:
        with transaction.atomic(), _without_triggers(tables), _references_made_anew():
            yield


@contextmanager
def _on_sqlite() -> Iterator[None]:
    is_off = connection.disable_constraint_checking()
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'")
            triggers = cursor.fetchall()
            for name, _ in triggers:
                cursor.execute(f"DROP TRIGGER {quoted(name)}")
            yield
            for _, statement in triggers:
                cursor.execute(statement)
            connection.check_constraints()
    finally:
        if is_off:
            connection.enable_constraint_checking()


@contextmanager
def _without_triggers(tables: Sequence[str]) -> Iterator[None]:
    with connection.cursor() as cursor:
        for name in tables:
            cursor.execute(f"ALTER TABLE {quoted(name)} DISABLE TRIGGER USER")
        yield
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")  # a table with checks to come is not altered
        for name in tables:
            cursor.execute(f"ALTER TABLE {quoted(name)} ENABLE TRIGGER USER")
        cursor.execute("SET CONSTRAINTS ALL DEFERRED")


@contextmanager
def _references_made_anew() -> Iterator[None]:
    """Whole tables are compared: row by row it takes many times as long."""
    with connection.cursor() as cursor:
        cursor.execute(REFERENCES)
        references = cursor.fetchall()
        for table, name, _ in references:
            cursor.execute(f"ALTER TABLE {table} DROP CONSTRAINT {name}")
        yield
        for table, name, definition in references:
            cursor.execute(f"ALTER TABLE {table} ADD CONSTRAINT {name} {definition}")
