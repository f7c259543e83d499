"""Expressions of SQL that Django lacks: months and days, the order of bytes, the database's clock."""

import time
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from django.db import connection
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.operations.base import Operation
from django.db.models import CharField, DateTimeField, ExpressionWrapper, F, Func
from django.db.models.functions import Collate, Now


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


def bytewise(field: str) -> Collate:
    return Collate(F(field), "C" if connection.vendor == "postgresql" else "BINARY")


class Month(Func):
    """The month of a time in UTC, "2026-03", by the database's own functions."""

    output_field = CharField()
    form = "YYYY-MM"

    def as_sqlite(self, compiler: Any, connection: Any, **more: Any) -> Any:
        template = f"substr(%(expressions)s, 1, {len(self.form)})"
        return self.as_sql(compiler, connection, template=template, **more)

    def as_postgresql(self, compiler: Any, connection: Any, **more: Any) -> Any:
        template = f"to_char(%(expressions)s AT TIME ZONE 'UTC', '{self.form}')"
        return self.as_sql(compiler, connection, template=template, **more)


class Day(Month):
    """The day of a time in UTC, "2026-03-02"."""

    form = "YYYY-MM-DD"


class SetForFunctions(Operation):
    """The migration operation for a setting under which functions run; reversible. It does nothing on SQLite."""

    reduces_to_sql = False

    def __init__(self, names: Sequence[str], setting: str, value: str) -> None:
        self.names = list(names)
        self.setting = setting
        self.value = value

    def deconstruct(self):
        return (type(self).__name__, [self.names, self.setting, self.value], {})

    def state_forwards(self, app_label, state) -> None:
        pass

    def database_forwards(self, app_label, schema_editor: BaseDatabaseSchemaEditor, from_state, to_state) -> None:
        self._alter(schema_editor, f"SET {self.setting} = {self.value}")

    def database_backwards(self, app_label, schema_editor: BaseDatabaseSchemaEditor, from_state, to_state) -> None:
        self._alter(schema_editor, f"RESET {self.setting}")

    def _alter(self, schema_editor: BaseDatabaseSchemaEditor, change: str) -> None:
        if schema_editor.connection.vendor == "postgresql":
            for name in self.names:
                schema_editor.execute(f'ALTER FUNCTION "{name}" {change}', params=None)

    def describe(self) -> str:
        return f"{self.setting} is {self.value} in functions of the database"
