"""Doing something without having done it: for a dry run, which ends as the real one would."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import transaction


@contextmanager
def undone(*, when: bool = True) -> Iterator[None]:
    """One transaction whose writes are undone at its end; what waits for its commit never happens. With `when` false
    they stay.
    """
    with transaction.atomic():
        yield
        if when:
            transaction.set_rollback(True)
