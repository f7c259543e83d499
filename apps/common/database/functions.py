"""Months and days in SQL, and the migration operation for a setting of PostgreSQL under which functions run."""

from collections.abc import Sequence
from typing import Any

from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.operations.base import Operation
from django.db.models import CharField, Func


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
