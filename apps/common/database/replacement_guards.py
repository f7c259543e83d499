"""Guards for SQLite against replacing rows that must not be deleted, made from the unique keys of a table.

`REPLACE INTO`, `INSERT OR REPLACE` and `UPDATE OR REPLACE` delete the conflicting row without firing its deletion
trigger, unless the client turned on recursive triggers. So each write that would conflict with a protected row at one
of its unique keys is refused. The check is one lookup in an existing index for each key. PostgreSQL has no such
statement: its `ON CONFLICT DO UPDATE` is an UPDATE, and fires the guards on updates.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

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
