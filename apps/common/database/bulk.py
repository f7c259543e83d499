"""Writing many rows at once, past the ORM: COPY on PostgreSQL, one prepared statement on SQLite."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, TypeVar

from django.db import connection, models

T = TypeVar("T")


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
    table = model._meta.db_table
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(
                "SELECT nextval(pg_get_serial_sequence(%s, 'id')) FROM generate_series(1, %s)", [table, count]
            )
            return [row[0] for row in cursor.fetchall()]
        cursor.execute("SELECT COALESCE(MAX(seq), 0) FROM sqlite_sequence WHERE name = %s", [table])
        last = cursor.fetchone()[0]
    return range(last + 1, last + 1 + count)


def insert_rows(model: type[models.Model], columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Insert rows given as values in the order of `columns` (database columns). JSON is given as text.

    Signals, defaults and `save` are skipped; constraints and triggers apply as usual.
    """
    quote = connection.ops.quote_name
    names = ", ".join(quote(column) for column in columns)
    table = quote(model._meta.db_table)
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            with cursor.cursor.copy(f"COPY {table} ({names}) FROM STDIN") as copy:
                for row in rows:
                    copy.write_row(row)
            return
        places = ", ".join(["%s"] * len(columns))
        cursor.executemany(f"INSERT INTO {table} ({names}) VALUES ({places})", list(rows))
