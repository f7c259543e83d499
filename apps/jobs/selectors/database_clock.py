"""The database's clock. Leases and waits are measured by it alone: hosts may disagree about the time."""

from datetime import datetime, timedelta

from django.db import connection
from django.db.models import DateTimeField, ExpressionWrapper
from django.db.models.functions import Now
from django.utils.dateparse import parse_datetime
from django.utils.timezone import is_naive, make_aware

NOW_SQL = {
    "sqlite": "SELECT STRFTIME('%%Y-%%m-%%d %%H:%%M:%%f', 'NOW')",
    "postgresql": "SELECT STATEMENT_TIMESTAMP()",
}


def from_now(seconds: float) -> ExpressionWrapper:
    """An expression: so many seconds after the database's now (before it, when negative)."""
    return ExpressionWrapper(Now() + timedelta(seconds=seconds), output_field=DateTimeField())


def database_now() -> datetime:
    with connection.cursor() as cursor:
        cursor.execute(NOW_SQL[connection.vendor], [])
        (value,) = cursor.fetchone()
    if isinstance(value, str):
        value = parse_datetime(value)
    return make_aware(value) if is_naive(value) else value
