"""Migration operations that make rows immutable on PostgreSQL and SQLite, from any client.

Each operation belongs in a migration of the app that owns the table. No setting turns the guards off; only tests drop
and restore them (see `drop_all` and `restore_all`).
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.operations.base import Operation

PREFIX = "karat_guard_"
EVENTS = ("INSERT", "UPDATE")
_WHEN_DELETED = re.compile(r"BEFORE DELETE ON .+? FOR EACH ROW (?:WHEN (?P<when>.+) )?BEGIN SELECT RAISE", re.DOTALL)
_ALWAYS_UPDATED = re.compile(r"BEFORE UPDATE ON \S+ FOR EACH ROW BEGIN")
_NAME = re.compile(r'"(\w+)"')


class Key(NamedTuple):
    """One unique key: its columns, and the condition of a partial one in SQL, else ""."""

    columns: tuple[str, ...]
    where: str


def trigger_name(table: str, event: str) -> str:
    return f"{PREFIX}{table}_replace_{event.lower()}"[:63]


def install(cursor: Any, tables: Iterable[str]) -> None:
    """Recreate the guards of these tables. A table whose rows may be deleted gets none."""
    for table in tables:
        for event in EVENTS:
            cursor.execute(f'DROP TRIGGER IF EXISTS "{trigger_name(table, event)}"')
        for statement in wanted(cursor, table).values():
            cursor.execute(statement)


def remove(cursor: Any, tables: Iterable[str]) -> None:
    for table in tables:
        for event in EVENTS:
            cursor.execute(f'DROP TRIGGER IF EXISTS "{trigger_name(table, event)}"')


def guarded_tables(cursor: Any) -> list[str]:
    """Tables with a guard on deletion."""
    cursor.execute(
        "SELECT DISTINCT tbl_name FROM sqlite_master WHERE type = 'trigger' AND sql LIKE %s ORDER BY tbl_name",
        [f'%TRIGGER "{PREFIX}%" BEFORE DELETE ON%'],
    )
    return [name for (name,) in cursor.fetchall()]


def wanted(cursor: Any, table: str) -> dict[str, str]:
    """The SQL of the guards that the table needs, by name, from its unique keys and its guards on deletion."""
    guards = _guards_on(cursor, table)
    guarded = [match["when"] or "" for sql in guards if (match := _WHEN_DELETED.search(sql))]
    if not guarded:
        return {}
    protected = "" if "" in guarded else " OR ".join(f"({_on_kept_row(condition)})" for condition in guarded)
    keys = unique_keys(cursor, table)
    conditions = {"INSERT": _condition(table, keys, protected, on_update=False)}
    if not any(_ALWAYS_UPDATED.search(sql) for sql in guards):
        conditions["UPDATE"] = _condition(table, keys, protected, on_update=True)
    return {trigger_name(table, event): _trigger(table, event, condition) for event, condition in conditions.items()}


def unique_keys(cursor: Any, table: str) -> list[Key]:
    """The primary key first, then every unique index."""
    cursor.execute(f'PRAGMA index_list("{table}")')
    indexes = [(row[1], bool(row[4])) for row in cursor.fetchall() if row[2]]
    keys = [Key(("id",), "")]
    for name, is_partial in sorted(indexes):
        cursor.execute(f'PRAGMA index_info("{name}")')
        columns = tuple(row[2] for row in cursor.fetchall())
        if None in columns:
            raise ValueError(f"{name} of {table} is unique over an expression, which no guard can follow yet.")
        where = ""
        if is_partial:
            cursor.execute("SELECT sql FROM sqlite_master WHERE name = %s", [name])
            where = cursor.fetchone()[0].split(" WHERE ", 1)[1]
        keys.append(Key(columns, where))
    return keys


def _guards_on(cursor: Any, table: str) -> list[str]:
    cursor.execute(
        "SELECT sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name = %s AND name LIKE %s",
        [table, f"{PREFIX}%"],
    )
    return [sql for (sql,) in cursor.fetchall()]


def _on_kept_row(condition: str) -> str:
    """A condition on the row to delete (OLD), rewritten for the row that is in the way (kept)."""
    return condition.replace("OLD.", "kept.")


def _condition(table: str, keys: Sequence[Key], protected: str, *, on_update: bool) -> str:
    return " OR ".join(f"({_would_replace(table, key, protected, on_update=on_update)})" for key in keys)


def _would_replace(table: str, key: Key, protected: str, *, on_update: bool) -> str:
    """SQL that is true when the written row would replace a protected one at this key."""
    same = [f'kept."{column}" = NEW."{column}"' for column in key.columns]
    before = []
    if key.where:
        same.append(f"({_NAME.sub(lambda match: f'kept.{match[0]}', key.where)})")
        before.append(f"({_NAME.sub(lambda match: f'NEW.{match[0]}', key.where)})")
    if protected:
        same.append(f"({protected})")
    if on_update:
        same.append('kept."id" <> OLD."id"')
        moved = dict.fromkeys([*key.columns, *_NAME.findall(key.where)])
        before.insert(0, "(" + " OR ".join(f'NEW."{column}" IS NOT OLD."{column}"' for column in moved) + ")")
    return " AND ".join([*before, f'EXISTS (SELECT 1 FROM "{table}" kept WHERE {" AND ".join(same)})'])


def _trigger(table: str, event: str, condition: str) -> str:
    message = f"a row of {table} with this key is there already, and is never replaced"
    return (
        f'CREATE TRIGGER "{trigger_name(table, event)}" BEFORE {event} ON "{table}" FOR EACH ROW WHEN {condition} '
        f"BEGIN SELECT RAISE(ABORT, '{message}'); END"
    )


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
        both = [self.trigger] if vendor == "sqlite" else [self.trigger, f"{self.trigger}_all"]
        return [statement for trigger in both for statement in drop_sql(trigger, self.table, vendor)]


def drop_sql(trigger: str, table: str, vendor: str) -> list[str]:
    """The statements that remove a trigger, and on PostgreSQL its function."""
    if vendor == "sqlite":
        return [f'DROP TRIGGER IF EXISTS "{trigger}"']
    return [f'DROP TRIGGER IF EXISTS "{trigger}" ON "{table}"', f'DROP FUNCTION IF EXISTS "{trigger}"()']


class Statements(Operation):
    """A change of tables that needs no models: for `RunPython` Django would rebuild all historical models."""

    reduces_to_sql = False

    def state_forwards(self, app_label: str, state: Any) -> None:
        pass

    def describe(self) -> str:
        return "Guards in the database"


class InstallGuards(Statements):
    """The migration operation for a list of guards; reversible.

    On SQLite a guard on deletion also installs those on replacement, made from the current unique keys of the table: a
    migration that adds a unique key to a guarded table lifts and installs its guards. `REPLACE INTO`, `INSERT OR
    REPLACE` and `UPDATE OR REPLACE` delete the conflicting row without firing its deletion trigger, unless the client
    turned on recursive triggers. So each write that would conflict with a protected row at one of its unique keys is
    refused, by one lookup in an existing index for each key. PostgreSQL has no such statement: its `ON CONFLICT DO
    UPDATE` is an UPDATE, and fires the guards on updates.
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
        install(cursor, dict.fromkeys(tables))


def append_only(table: str, what: str) -> list[Guard]:
    """Guards by which rows of `table` are never updated or deleted. `what` names one row: "a judgement"."""
    return [
        Guard(table, "UPDATE", f"{what} is never changed; add a new one that supersedes it"),
        Guard(table, "DELETE", f"{what} is never deleted"),
    ]


def frozen_when(table: str, condition: str, what: str) -> list[Guard]:
    """Guards against updates and deletions of rows of `table` for which `condition` (SQL over OLD) is true."""
    return [
        Guard(table, "UPDATE", f"{what} is fixed and cannot be changed", condition),
        Guard(table, "DELETE", f"{what} is fixed and cannot be deleted", condition),
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


def with_project(guards: Iterable[Guard], paths: Mapping[str, str]) -> list[Guard]:
    """The guards; those on deletion are open to rows of projects that are being deleted.

    A project goes as a whole or not at all: its rows can be deleted from the moment when its deletion is on record
    (`accounts_projectdeletion`, whose rows nobody can change or delete) until it is finished.

    A path leads from a row of the table to the key of its project: its column, or its column, the table that it names,
    and a column of that, and so on, as "round_id judging_round project_id".
    """
    return [_with_project(guard, paths[guard.table]) if guard.event == "DELETE" else guard for guard in guards]


def _with_project(guard: Guard, path: str) -> Guard:
    being_deleted = (
        'EXISTS (SELECT 1 FROM "accounts_projectdeletion" WHERE "finished_at" IS NULL'
        f' AND "project_id" = {_project(path)})'
    )
    condition = f"({guard.condition}) AND NOT {being_deleted}" if guard.condition else f"NOT {being_deleted}"
    return replace(guard, condition=condition, and_truncation=guard.and_truncation or not guard.condition)


def _project(path: str) -> str:
    column, *steps = path.split()
    value = f'OLD."{column}"'
    for table, further in zip(steps[::2], steps[1::2], strict=True):
        value = f'(SELECT "{further}" FROM "{table}" WHERE "id" = {value})'
    return value
