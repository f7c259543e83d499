"""Writing what may be missing: a request never fails, and hardly waits, because it was not written."""

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

from django.db import DatabaseError, connection, transaction

from apps.common.web.outages import outage_of

SECONDS = 0.2


def write_note(write: Callable[[], object]) -> None:
    """Call `write` in a transaction, which is skipped while the database cannot be written to.

    On SQLite it waits for another writer for an instant only.
    """
    here: Any = connection
    try:
        with here.waiting_for(SECONDS) if here.vendor == "sqlite" else nullcontext(), transaction.atomic():
            write()
    except DatabaseError as problem:
        if outage_of(problem) is None:
            raise
