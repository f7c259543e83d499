"""Rows in bulk and single locks past the ORM: COPY on PostgreSQL, statements of many rows on SQLite; and dry runs."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from itertools import chain, islice
from typing import Any, TypeVar

from django.db import DatabaseError, connection, models, transaction

from apps.common.web.outages import outage_of

SECONDS = 0.2


def write_note(write: Callable[[], object]) -> None:
    """Call `write` in a transaction, which is skipped while the database cannot be written to.

    On SQLite it waits for another writer for an instant only.
    """
    here: Any = connection
    try:
        with here.waiting_for(SECONDS) if here.vendor == "sqlite" else nullcontext(), transaction.atomic():
            write()
    except DatabaseError as problem:
        if outage_of(problem) is None:
            raise


def share(row: models.Model) -> None:
    """Keep others from locking the row with `select_for_update()` until the transaction ends; sharers do not wait.

    It is the lock that PostgreSQL takes for each new row with a foreign key to this one, but only at the commit: who
    needs to know earlier takes it first. On SQLite a transaction that writes is alone.
    """
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute(f'SELECT 1 FROM "{row._meta.db_table}" WHERE "id" = %s FOR KEY SHARE', [row.pk])


T = TypeVar("T")
VALUES_A_STATEMENT = 990
"""Every SQLite takes 999 parameters."""
NEXT_KEYS = """
WITH taken AS MATERIALIZED (
    SELECT nextval((SELECT pg_get_serial_sequence(%s, 'id')::regclass)) AS key FROM generate_series(1, %s)
)
SELECT MIN(key), MAX(key), CASE WHEN MAX(key) - MIN(key) >= COUNT(*) THEN ARRAY_AGG(key ORDER BY key) END FROM taken
"""
"""Keys that follow each other as their first and last; as a list when others took some meanwhile.

The sequence is looked up once, in a statement of its own: otherwise for each key, which takes ten times as long.
"""


def chunks(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """The items in lists of `size`; the last one may be shorter."""
    iterator = iter(items)
    while chunk := list(islice(iterator, size)):
        yield chunk


def reserve_ids(model: type[models.Model], count: int) -> Sequence[int]:
    """Reserve `count` primary keys, ascending, that nobody else will get. Call inside a transaction.

    On SQLite the transaction holds the only write lock, so the keys after the last one used are free.
    """
    if not count:
        return []
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute(NEXT_KEYS, [model._meta.db_table, count])
            first, last, scattered = cursor.fetchone()
        return scattered or range(first, last + 1)
    last = last_id(model)
    return range(last + 1, last + 1 + count)


def last_id(model: type[models.Model]) -> int:
    """The last primary key that was ever used, on SQLite; 0 for none."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT COALESCE(MAX(seq), 0) FROM sqlite_sequence WHERE name = %s", [model._meta.db_table])
        return int(cursor.fetchone()[0])


def insert_rows(model: type[models.Model], columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Insert rows given as values in the order of `columns` (database columns). JSON is given as text.

    Signals, defaults and `save` are skipped; constraints and triggers apply as usual.
    """
    quote = connection.ops.quote_name
    names = ", ".join(quote(column) for column in columns)
    table = quote(model._meta.db_table)
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            # Django does not see this statement, so its errors are not translated by themselves.
            with connection.wrap_database_errors, cursor.cursor.copy(f"COPY {table} ({names}) FROM STDIN") as copy:
                for row in rows:
                    copy.write_row(row)
            return
        insert_in_statements(cursor, f"INSERT INTO {table} ({names}) VALUES ", len(columns), rows)


def insert_in_statements(cursor: Any, insert: str, columns: int, rows: Iterable[Sequence[Any]]) -> None:
    """Insert many rows a statement: each saves the pages it changes, in case a guard refuses one of its rows."""
    size = VALUES_A_STATEMENT // columns
    places = f"({', '.join(['%s'] * columns)})"
    *whole, rest = [*chunks(rows, size)] or [[]]
    if len(rest) == size:
        whole, rest = [*whole, rest], []
    cursor.executemany(insert + ", ".join([places] * size), [[*chain.from_iterable(part)] for part in whole])
    if rest:
        cursor.execute(insert + ", ".join([places] * len(rest)), [*chain.from_iterable(rest)])


@contextmanager
def undone(*, when: bool = True) -> Iterator[None]:
    """One transaction whose writes are undone at its end; what waits for its commit never happens. With `when` false
    they stay.
    """
    with transaction.atomic():
        yield
        if when:
            transaction.set_rollback(True)
