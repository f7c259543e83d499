"""Writes that are made at once, or prepared before their transaction, so that SQLite's lock is held only to store them.

Both take the same calls, so that what is written is decided in one place.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import chain, count
from typing import Any, NamedTuple

from django.db import DatabaseError, connection, models

from apps.common.database.bulk import insert_in_statements, insert_rows, last_id, reserve_ids

AT_ONCE = 2_000
_numbers = count(1)


class Writes:
    """Writes that are made as they come, inside a transaction."""

    def reserve(self, model: type[models.Model], number: int) -> Sequence[int]:
        return reserve_ids(model, number)

    def insert(self, model: type[models.Model], columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
        insert_rows(model, columns, rows)

    def update(self, statement: str, rows: Iterable[Sequence[Any]]) -> None:
        """Execute the statement for each row of parameters."""
        with connection.cursor() as cursor:
            cursor.executemany(statement, [*rows])

    def check(self) -> None:
        """Check the foreign keys of what was written so far, which then needs no time at the commit."""
        if connection.vendor == "postgresql":
            with connection.cursor() as cursor:
                cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
                cursor.execute("SET CONSTRAINTS ALL DEFERRED")

    def is_valid(self) -> bool:
        """Whether what was prepared may still be written."""
        return True

    def make(self) -> None:
        """Make all writes, in the caller's transaction."""


class _Part(NamedTuple):
    """The rows of one target, an insert or a statement, in a temporary table of as many columns."""

    table: str
    columns: int
    insert: str
    update: str


class PreparedWrites(Writes):
    """Writes that are collected, on SQLite, in tables that only this connection sees, and then made by `make`.

    Rows of one table are written together, tables in the order in which they came first. Keys are those that follow the
    last one now: ask `is_valid` in the transaction, before anything is written, whether they still do.
    """

    def __init__(self) -> None:
        self._keys: dict[type[models.Model], tuple[int, int]] = {}
        self._parts: dict[tuple[str, ...], _Part] = {}

    def reserve(self, model: type[models.Model], number: int) -> Sequence[int]:
        first, taken = self._keys.get(model) or (last_id(model), 0)
        self._keys[model] = first, taken + number
        return range(first + taken + 1, first + taken + number + 1)

    def insert(self, model: type[models.Model], columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
        table, names = model._meta.db_table, ", ".join(f'"{column}"' for column in columns)
        self._collect(("insert", table, names), len(columns), rows, insert=f'INSERT INTO "{table}" ({names})')

    def update(self, statement: str, rows: Iterable[Sequence[Any]]) -> None:
        first, *rest = [*rows] or [()]
        if first:
            self._collect(("update", statement), len(first), chain([first], rest), update=statement)

    def check(self) -> None:
        """Nothing is written yet."""

    def is_valid(self) -> bool:
        """Whether nobody has taken the keys meanwhile."""
        return all(last_id(model) == first for model, (first, _) in self._keys.items())

    def make(self) -> None:
        with connection.cursor() as cursor:
            for part in self._parts.values():
                if part.insert:
                    cursor.execute(f"{part.insert} SELECT * FROM temp.{part.table} ORDER BY rowid")
                    continue
                with connection.cursor() as reading:
                    reading.execute(f"SELECT * FROM temp.{part.table} ORDER BY rowid")
                    for rows in iter(lambda: reading.fetchmany(AT_ONCE), []):
                        cursor.executemany(part.update, rows)

    def close(self) -> None:
        """Drop the tables. After an error Django refuses statements of its own until the transaction has ended."""
        if connection.connection is None:
            return
        for part in self._parts.values():
            with suppress(DatabaseError):
                connection.connection.execute(f"DROP TABLE IF EXISTS temp.{part.table}")

    def _collect(
        self,
        target: tuple[str, ...],
        columns: int,
        rows: Iterable[Sequence[Any]],
        *,
        insert: str = "",
        update: str = "",
    ) -> None:
        with connection.cursor() as cursor:
            part = self._parts.get(target)
            if part is None:
                part = _Part(f"prepared_{next(_numbers)}", columns, insert, update)
                names = ", ".join(f"c{number}" for number in range(columns))
                cursor.execute(f"CREATE TEMP TABLE {part.table} ({names})")
                self._parts[target] = part
            insert_in_statements(cursor, f"INSERT INTO temp.{part.table} VALUES ", columns, rows)


@contextmanager
def prepared_writes() -> Iterator[PreparedWrites]:
    """Writes to prepare and make in the block; afterwards nothing of them is left."""
    writes = PreparedWrites()
    try:
        yield writes
    finally:
        writes.close()
