"""Writing what may be missing: a request never fails, and hardly waits, because it was not written."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from django.db import DatabaseError, connection

from apps.common.database.durability import atomic_without_sync
from apps.common.web.outages import outage_of

PATIENCE_SECONDS = 0.2


def write_note(write: Callable[[], object]) -> None:
    """Call `write` in a transaction, which is skipped while the database cannot be written to.

    On SQLite it waits for another writer for an instant only, and never for the disk.
    """
    try:
        with _impatiently(), atomic_without_sync():
            write()
    except DatabaseError as problem:
        if outage_of(problem) is None:
            raise


@contextmanager
def _impatiently() -> Iterator[None]:
    if connection.vendor != "sqlite":
        yield
        return
    connection.ensure_connection()  # which sets the patience
    sqlite: Any = connection
    patience = sqlite.patience
    sqlite.patience = min(patience, sqlite.waited + PATIENCE_SECONDS) if sqlite.crowd else PATIENCE_SECONDS
    try:
        yield
    finally:
        sqlite.patience = patience
