"""Months and days in SQL, and migration operations for functions of PostgreSQL: several statements in one trip to it.

SQLite has no trips to save, so there the same statements are sent one by one.
"""

from collections.abc import Sequence
from dataclasses import dataclass
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


@dataclass(frozen=True)
class Function:
    """A function in PL/pgSQL, each of whose statements sees what was committed before it began, as on its own.

    `arguments` are names with types. `body` is what stands between BEGIN and END, `variables` what stands before.
    """

    name: str
    arguments: tuple[str, ...]
    returns: str
    variables: str
    body: str

    @property
    def create_sql(self) -> str:
        return (
            f'CREATE OR REPLACE FUNCTION "{self.name}"({", ".join(self.arguments)}) RETURNS {self.returns} '
            f"LANGUAGE plpgsql AS $function$ DECLARE {self.variables} BEGIN {self.body} END $function$"
        )

    @property
    def drop_sql(self) -> str:
        return f'DROP FUNCTION IF EXISTS "{self.name}"'


class InstallFunctions(Operation):
    """The migration operation for a list of functions; reversible. It does nothing on SQLite."""

    reduces_to_sql = False

    def __init__(self, functions: Sequence[Function]) -> None:
        self.functions = list(functions)

    def deconstruct(self):
        return (type(self).__name__, [self.functions], {})

    def state_forwards(self, app_label, state) -> None:
        pass

    def database_forwards(self, app_label, schema_editor: BaseDatabaseSchemaEditor, from_state, to_state) -> None:
        self._execute(schema_editor, [function.create_sql for function in self.functions])

    def database_backwards(self, app_label, schema_editor: BaseDatabaseSchemaEditor, from_state, to_state) -> None:
        self._execute(schema_editor, [function.drop_sql for function in self.functions])

    def _execute(self, schema_editor: BaseDatabaseSchemaEditor, statements: list[str]) -> None:
        if schema_editor.connection.vendor == "postgresql":
            for statement in statements:
                schema_editor.execute(statement, params=None)

    def describe(self) -> str:
        return "Functions in the database"


class ReplaceFunctions(InstallFunctions):
    """The migration operation for functions whose body has changed; reversible, to the functions `before`."""

    def __init__(self, functions: Sequence[Function], before: Sequence[Function]) -> None:
        super().__init__(functions)
        self.before = list(before)

    def deconstruct(self):
        return (type(self).__name__, [self.functions, self.before], {})

    def database_backwards(self, app_label, schema_editor: BaseDatabaseSchemaEditor, from_state, to_state) -> None:
        self._execute(schema_editor, [function.create_sql for function in self.before])


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
