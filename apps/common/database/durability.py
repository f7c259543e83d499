"""Transactions that a power cut may undo, for what nobody was told is stored."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db import connection, transaction


@contextmanager
def atomic_without_sync() -> Iterator[None]:
    """As `transaction.atomic`, but on SQLite the commit does not wait for the disk.

    It is as whole as any other and survives a crash of Karat or of the database. After a power cut it may be missing,
    with whatever came after it that did not wait either. What is committed later in the usual way waits for both.
    """
    if connection.vendor != "sqlite" or connection.in_atomic_block:
        with transaction.atomic():
            yield
        return
    sqlite: Any = connection
    sqlite.waits_for_disk = False
    try:
        with transaction.atomic():
            yield
    finally:
        sqlite.waits_for_disk = True
