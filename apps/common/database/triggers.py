"""Migration operations that make rows immutable on PostgreSQL and SQLite, from any client.

Each operation belongs in a migration of the app that owns the table. No setting turns the guards off; only tests drop
and restore them (see `drop_all` and `restore_all`).
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.operations.base import Operation

from apps.common.database import replacement_guards
from apps.common.database.replacement_guards import PREFIX

OURS = "karat_"
"""The names of guards and of keepers begin so."""


@dataclass(frozen=True)
class Guard:
    """One rule: `event` (UPDATE, DELETE or INSERT) on `table` is refused with `message` when `condition` is true.

    `condition` is SQL over OLD and NEW that both databases understand. An empty condition is always true. A guard on
    deletion without a condition, or with `and_truncation`, refuses to truncate the table too.
    """

    table: str
    event: str
    message: str
    condition: str = ""
    name: str = ""
    and_truncation: bool = False

    @property
    def trigger(self) -> str:
        return f"{PREFIX}{self.table}_{self.name or self.event.lower()}"[:63]

    def create_sql(self, vendor: str) -> list[str]:
        message = self.message.replace("'", "''")
        if vendor == "sqlite":
            when = f"WHEN {self.condition} " if self.condition else ""
            return [
                f'CREATE TRIGGER "{self.trigger}" BEFORE {self.event} ON "{self.table}" FOR EACH ROW {when}'
                f"BEGIN SELECT RAISE(ABORT, '{message}'); END"
            ]
        # A condition may contain a subquery, which PostgreSQL does not allow in WHEN: so it is in the function body.
        guard = self.condition or "TRUE"
        passes = "RETURN OLD;" if self.event == "DELETE" else "RETURN NEW;"
        statements = [
            f'CREATE FUNCTION "{self.trigger}"() RETURNS trigger LANGUAGE plpgsql AS $guard$ BEGIN '
            f"IF ({guard}) THEN RAISE EXCEPTION '{message.replace('%', '%%')}' "
            f"USING ERRCODE = 'integrity_constraint_violation'; END IF; {passes} END $guard$",
            f'CREATE TRIGGER "{self.trigger}" BEFORE {self.event} ON "{self.table}" FOR EACH ROW '
            f'EXECUTE FUNCTION "{self.trigger}"()',
        ]
        if self.event == "DELETE" and (self.and_truncation or not self.condition):
            statements += [
                f'CREATE FUNCTION "{self.trigger}_all"() RETURNS trigger LANGUAGE plpgsql AS $guard$ BEGIN '
                f"RAISE EXCEPTION '{message.replace('%', '%%')}' "
                f"USING ERRCODE = 'integrity_constraint_violation'; END $guard$",
                f'CREATE TRIGGER "{self.trigger}_all" BEFORE TRUNCATE ON "{self.table}" FOR EACH STATEMENT '
                f'EXECUTE FUNCTION "{self.trigger}_all"()',
            ]
        return statements

    def drop_sql(self, vendor: str) -> list[str]:
        if vendor == "sqlite":
            return [f'DROP TRIGGER IF EXISTS "{self.trigger}"']
        return [
            f'DROP TRIGGER IF EXISTS "{self.trigger}" ON "{self.table}"',
            f'DROP FUNCTION IF EXISTS "{self.trigger}"()',
            f'DROP TRIGGER IF EXISTS "{self.trigger}_all" ON "{self.table}"',
            f'DROP FUNCTION IF EXISTS "{self.trigger}_all"()',
        ]


class _Statements(Operation):
    """A change of tables that needs no models: for `RunPython` Django would rebuild all historical models."""

    reduces_to_sql = False

    def state_forwards(self, app_label: str, state: Any) -> None:
        pass

    def describe(self) -> str:
        return "Guards in the database"


class InstallGuards(_Statements):
    """The migration operation for a list of guards; reversible.

    On SQLite a guard on deletion also installs those on replacement (see `replacement_guards`), made from the current
    unique keys of the table: a migration that adds a unique key to a guarded table ends with `GuardReplacement`.
    """

    def __init__(self, guards: Sequence[Guard]) -> None:
        self.guards = list(guards)

    def deconstruct(self):
        return (type(self).__name__, [self.guards], {})

    def database_forwards(self, app_label, schema_editor, from_state, to_state) -> None:
        self._execute(schema_editor, Guard.create_sql)

    def database_backwards(self, app_label, schema_editor, from_state, to_state) -> None:
        self._execute(schema_editor, Guard.drop_sql)

    def _execute(self, schema_editor: BaseDatabaseSchemaEditor, sql: Callable[[Guard, str], list[str]]) -> None:
        for guard in self.guards:
            for statement in sql(guard, schema_editor.connection.vendor):
                schema_editor.execute(statement)
        _guard_replacement(schema_editor, [guard.table for guard in self.guards])


class LiftGuards(InstallGuards):
    """The reverse operation: drop guards, so that a later migration of the same upgrade can install better ones."""

    def database_forwards(self, app_label, schema_editor, from_state, to_state) -> None:
        self._execute(schema_editor, Guard.drop_sql)

    def database_backwards(self, app_label, schema_editor, from_state, to_state) -> None:
        self._execute(schema_editor, Guard.create_sql)


class GuardReplacement(_Statements):
    """The migration operation that recreates the guards on replacement of some tables. Reversing it does nothing."""

    def __init__(self, tables: Sequence[str]) -> None:
        self.tables = list(tables)

    def deconstruct(self):
        return (type(self).__name__, [self.tables], {})

    def database_forwards(self, app_label, schema_editor, from_state, to_state) -> None:
        _guard_replacement(schema_editor, self.tables)

    def database_backwards(self, app_label, schema_editor, from_state, to_state) -> None:
        _guard_replacement(schema_editor, self.tables)


class KeepGuards(Operation):
    """Another operation, one on a table with guards, after which they are all there again, in either direction.

    Django rebuilds a table on SQLite to drop a foreign key or to add a check, and a rebuilt table has no triggers.
    """

    reduces_to_sql = False

    def __init__(self, operation: Operation) -> None:
        self.operation = operation

    def deconstruct(self):
        return (type(self).__name__, [self.operation], {})

    def state_forwards(self, app_label: str, state: Any) -> None:
        self.operation.state_forwards(app_label, state)

    def database_forwards(self, app_label, schema_editor, from_state, to_state) -> None:
        with _kept_guards(schema_editor):
            self.operation.database_forwards(app_label, schema_editor, from_state, to_state)

    def database_backwards(self, app_label, schema_editor, from_state, to_state) -> None:
        with _kept_guards(schema_editor):
            self.operation.database_backwards(app_label, schema_editor, from_state, to_state)

    def describe(self) -> str:
        return f"{self.operation.describe()}, with the guards kept"


@contextmanager
def _kept_guards(schema_editor: BaseDatabaseSchemaEditor) -> Iterator[None]:
    if schema_editor.connection.vendor != "sqlite":
        yield
        return
    before = _triggers(schema_editor)
    for name in before:  # SQLite renames no table while a trigger of another one mentions it
        schema_editor.execute(f'DROP TRIGGER "{name}"', params=None)
    yield
    there = _triggers(schema_editor)
    for name, statement in before.items():
        if name not in there:
            schema_editor.execute(statement, params=None)  # as it is, percent signs too


def _triggers(schema_editor: BaseDatabaseSchemaEditor) -> dict[str, str]:
    with schema_editor.connection.cursor() as cursor:
        cursor.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND name LIKE %s", [OURS + "%"])
        return dict(cursor.fetchall())


def _guard_replacement(schema_editor: BaseDatabaseSchemaEditor, tables: Sequence[str]) -> None:
    if schema_editor.connection.vendor != "sqlite":
        return
    with schema_editor.connection.cursor() as cursor:
        replacement_guards.install(cursor, dict.fromkeys(tables))


def append_only(table: str, what: str) -> list[Guard]:
    """Guards by which rows of `table` are never updated or deleted. `what` names one row: "a judgement"."""
    return [
        Guard(table, "UPDATE", f"{what} is never changed; add a new one that supersedes it"),
        Guard(table, "DELETE", f"{what} is never deleted"),
    ]


def frozen_when(table: str, condition: str, what: str, *, delete_condition: str | None = None) -> list[Guard]:
    """Guards against updates and deletions of rows of `table` for which `condition` (SQL over OLD) is true."""
    return [
        Guard(table, "UPDATE", f"{what} is fixed and cannot be changed", condition),
        Guard(table, "DELETE", f"{what} is fixed and cannot be deleted", delete_condition or condition),
    ]


def same(*columns: str) -> str:
    """SQL that is true when each column has the same value in OLD and NEW, NULL equal to NULL, on both databases.

    It is never NULL: a value that becomes NULL counts as a change.
    """
    return " AND ".join(
        f'((OLD."{c}" = NEW."{c}" AND OLD."{c}" IS NOT NULL AND NEW."{c}" IS NOT NULL)'
        f' OR (OLD."{c}" IS NULL AND NEW."{c}" IS NULL))'
        for c in columns
    )


def drop_all(connection) -> list[str]:
    """Drop every guard and return the statements that restore them. For tests only."""
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute(
                "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND name LIKE %s", [PREFIX + "%"]
            )
            rows = cursor.fetchall()
            for name, _ in rows:
                cursor.execute(f'DROP TRIGGER "{name}"')
            return [sql for _, sql in rows]
        cursor.execute(
            "SELECT t.tgname, c.relname FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid"
            " WHERE NOT t.tgisinternal AND t.tgname LIKE %s",
            [PREFIX + "%"],
        )
        rows = cursor.fetchall()
        for name, table in rows:
            cursor.execute(f'ALTER TABLE "{table}" DISABLE TRIGGER "{name}"')
        return [f'ALTER TABLE "{table}" ENABLE TRIGGER "{name}"' for name, table in rows]


def restore_all(connection, statements: list[str]) -> None:
    with connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)
