"""Emptying the database between tests: the one place where rows go that the product never deletes."""

from collections.abc import Iterator
from contextlib import contextmanager

from apps.common import triggers


@contextmanager
def without_guards(connection) -> Iterator[None]:
    """Let a flush through, and empty what it does not know of: the search index, whose ids would be given again."""
    statements = triggers.drop_all(connection)
    try:
        yield
        with connection.cursor() as cursor:
            if connection.vendor == "sqlite":
                cursor.execute("INSERT INTO corpus_search (corpus_search) VALUES ('delete-all')")
            cursor.execute("DELETE FROM corpus_searched")
    finally:
        triggers.restore_all(connection, statements)
