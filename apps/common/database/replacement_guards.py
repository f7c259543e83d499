"""Rows that may not be deleted may not be replaced either: guards for SQLite, made from the unique keys of a table.

`REPLACE INTO`, `INSERT OR REPLACE` and `UPDATE OR REPLACE` take the row in the way out without firing a trigger of
its deletion, unless the client asked for recursive triggers. So each write that would meet a kept row at one of its
unique keys is refused before it is done. Every look is one step into an index that is there already. PostgreSQL knows
no such statement: its `ON CONFLICT DO UPDATE` is an UPDATE, and meets the guards of one.
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
    """Make the guards of these tables anew. A table whose rows may be deleted gets none."""
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
    """The guards that the table needs now, by name: its keys and its guard on deletion say which."""
    standing = _guards_on(cursor, table)
    kept = [match["when"] or "" for sql in standing if (match := _WHEN_DELETED.search(sql))]
    if not kept:
        return {}
    protected = "" if "" in kept else " OR ".join(f"({_over(condition)})" for condition in kept)
    keys = unique_keys(cursor, table)
    found = {"INSERT": _condition(table, keys, protected, on_update=False)}
    if not any(_ALWAYS_UPDATED.search(sql) for sql in standing):
        found["UPDATE"] = _condition(table, keys, protected, on_update=True)
    return {trigger_name(table, event): _trigger(table, event, condition) for event, condition in found.items()}


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


def _over(condition: str) -> str:
    """A condition over the row that a deletion takes, told of the row that is in the way."""
    return condition.replace("OLD.", "kept.")


def _condition(table: str, keys: Sequence[Key], protected: str, *, on_update: bool) -> str:
    return " OR ".join(f"({_meets(table, key, protected, on_update=on_update)})" for key in keys)


def _meets(table: str, key: Key, protected: str, *, on_update: bool) -> str:
    """The row that is written would take the place of a kept one at this key."""
    there = [f'kept."{column}" = NEW."{column}"' for column in key.columns]
    before = []
    if key.where:
        there.append(f"({_NAME.sub(lambda found: f'kept.{found[0]}', key.where)})")
        before.append(f"({_NAME.sub(lambda found: f'NEW.{found[0]}', key.where)})")
    if protected:
        there.append(f"({protected})")
    if on_update:
        there.append('kept."id" <> OLD."id"')
        moved = dict.fromkeys([*key.columns, *_NAME.findall(key.where)])
        before.insert(0, "(" + " OR ".join(f'NEW."{column}" IS NOT OLD."{column}"' for column in moved) + ")")
    return " AND ".join([*before, f'EXISTS (SELECT 1 FROM "{table}" kept WHERE {" AND ".join(there)})'])


def _trigger(table: str, event: str, condition: str) -> str:
    message = f"a row of {table} with this key is there already, and is never replaced"
    return (
        f'CREATE TRIGGER "{trigger_name(table, event)}" BEFORE {event} ON "{table}" FOR EACH ROW WHEN {condition} '
        f"BEGIN SELECT RAISE(ABORT, '{message}'); END"
    )
