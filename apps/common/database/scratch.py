"""A database of its own for what is read from one file: any number of rows, in a few megabytes of memory."""

import json
import sqlite3
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")
Line = TypeVar("Line", int, str)
AT_ONCE = 2_000
SETTINGS = "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA temp_store=FILE; PRAGMA cache_size=-4096;"


class Scratch:
    """Tables that only this object sees, in a temporary file without a name; they are gone when it is.

    Karat's own database is not touched: a preview writes nothing there, and holds no lock. Nothing is rolled back, so a
    statement must not fail.
    """

    def __init__(self, tables: str) -> None:
        self._open("", tables)

    @classmethod
    def at(cls, path: Path) -> "Scratch":
        """The tables that `store` has written to this file, which is taken over: remove it, and it goes with this."""
        scratch = cls.__new__(cls)
        scratch._open(str(path), "")
        return scratch

    def store(self, path: Path) -> None:
        """Write the tables to a file."""
        self._connection.execute("COMMIT")  # within a transaction nothing can be copied
        with closing(sqlite3.connect(path)) as copy:
            self._connection.backup(copy)
        self._connection.execute("BEGIN")

    def _open(self, name: str, tables: str) -> None:
        # One thread at a time, but not always the same: what one has read another may store.
        self._connection = sqlite3.connect(name, isolation_level=None, check_same_thread=False)
        self._connection.executescript(f"{SETTINGS} {tables} BEGIN")
        weakref.finalize(self, self._connection.close)

    def write(self, statement: str, rows: Iterable[Sequence[Any]] = ((),)) -> int:
        """Execute the statement for each row, by default once. Returns how many rows it has written."""
        before = self._connection.total_changes
        self._connection.executemany(statement, rows)
        return self._connection.total_changes - before

    def write_at_once(self, statement: str, rows: Sequence[Sequence[str | int]]) -> int:
        """Execute the statement once for all rows, `(SELECT value FROM json_each(?))`. Returns as `write` does.

        SQLite lets other threads run before each execution, and each time this one waits until they let it again.
        """
        before = self._connection.total_changes
        self._connection.execute(statement, [json.dumps(rows)])
        return self._connection.total_changes - before

    def read(self, statement: str, values: Sequence[Any] = ()) -> Iterator[Any]:
        """The rows of a SELECT, a few thousand at a time. Write nothing to its tables until they are read."""
        cursor = self._connection.execute(statement, values)
        while rows := cursor.fetchmany(AT_ONCE):
            yield from rows

    def value(self, statement: str, values: Sequence[Any] = ()) -> Any:
        """The one value that a SELECT gives."""
        return self._connection.execute(statement, values).fetchone()[0]


NAME_KEYS = """
INSERT OR IGNORE INTO named
SELECT json_extract(value, '$[0]'), json_extract(value, '$[1]'), json_extract(value, '$[2]') FROM json_each(?)
"""


class FirstLines:
    """The line at which each key of a file is named first, so that a key that is named twice is noticed.

    Instead of a line it may be a text on it.
    """

    def __init__(self) -> None:
        self._scratch = Scratch("CREATE TABLE named (key TEXT PRIMARY KEY, number INTEGER, line) WITHOUT ROWID;")
        self._taken = 0

    def take(self, keys: Sequence[tuple[str, Line]]) -> dict[int, Line]:
        """Take the next keys, each with its line. Returns the first line of those named before, by place in `keys`."""
        start, self._taken = self._taken, self._taken + len(keys)
        rows = [(key, number, line) for number, (key, line) in enumerate(keys, start)]
        if self._scratch.write_at_once(NAME_KEYS, rows) == len(rows):
            return {}
        doubled = {}
        for place, (key, number, _) in enumerate(rows):
            [(first, line)] = self._scratch.read("SELECT number, line FROM named WHERE key = ?", [key])
            if first != number:
                doubled[place] = line
        return doubled

    def beside(self, items: Iterable[T], key: Callable[[T], tuple[str, Line]]) -> Iterator[tuple[T, Line | None]]:
        """Each item with the first line of its key, None where that is its own. Reads some thousand items ahead."""
        iterator = iter(items)
        while part := list(islice(iterator, AT_ONCE)):
            doubled = self.take([key(item) for item in part])
            for place, item in enumerate(part):
                yield item, doubled.get(place)


class FirstValues:
    """The first value of each key of a file, on disk: of a dictionary, `setdefault` alone."""

    def __init__(self) -> None:
        self._scratch = Scratch("CREATE TABLE first (key TEXT PRIMARY KEY, value) WITHOUT ROWID;")

    def setdefault(self, key: str, value: int | None) -> int | None:
        """The value that the key came with first; this one when it is new."""
        if self._scratch.write("INSERT OR IGNORE INTO first VALUES (?, ?)", [(key, value)]):
            return value
        first: int | None = self._scratch.value("SELECT value FROM first WHERE key = ?", [key])
        return first
