"""The database's clock. Leases and waits are measured by it alone: hosts may disagree about the time."""

from datetime import timedelta

from django.db.models import DateTimeField, ExpressionWrapper
from django.db.models.functions import Now


def from_now(seconds: float) -> ExpressionWrapper:
    """An expression: so many seconds after the database's now (before it, when negative)."""
    return ExpressionWrapper(Now() + timedelta(seconds=seconds), output_field=DateTimeField())
