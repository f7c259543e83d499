"""The database's clock. Leases and waits are measured by it alone: hosts may disagree about the time."""

import time
from datetime import timedelta

from django.db import connection
from django.db.models import DateTimeField, ExpressionWrapper
from django.db.models.functions import Now


def from_now(seconds: float) -> ExpressionWrapper:
    """An expression: so many seconds after the database's now (before it, when negative)."""
    return ExpressionWrapper(Now() + timedelta(seconds=seconds), output_field=DateTimeField())


def seconds_ahead() -> float:
    """How far the database's clock is ahead of this machine's. SQLite has no other."""
    if connection.vendor == "sqlite":
        return 0.0
    begun = time.time()
    with connection.cursor() as cursor:
        cursor.execute("SELECT EXTRACT(EPOCH FROM clock_timestamp())")
        [theirs] = cursor.fetchone()
    return float(theirs) - (begun + time.time()) / 2
