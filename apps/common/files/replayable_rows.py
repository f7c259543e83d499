"""Rows that are read several times: once from where they are, and from a file on disk after that."""

from __future__ import annotations

import pickle
import tempfile
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import IO, Any, Generic, TypeVar

T = TypeVar("T")
Passing = TypeVar("Passing")
ROWS_AT_ONCE = 1_000


class ReplayableRows(Generic[T]):
    """What `read` yields, any number of times and as several readers like, though it is called a single time.

    Memory does not grow with the rows. The file has no name, and goes with this object.
    """

    def __init__(self, read: Callable[[], Iterable[T]]) -> None:
        self._read = read
        self._file: IO[bytes] | None = None
        self._places: list[tuple[int, int]] = []

    def __iter__(self) -> Iterator[T]:
        if self._file is None:
            for _ in self.passing(self._read(), lambda row: row):
                """It is written as it passes."""
        for start, size in self._places:
            yield from self._rows_at(start, size)

    def passing(self, rows: Iterable[Passing], kept: Callable[[Passing], T]) -> Iterator[Passing]:
        """Other rows on their way elsewhere. When all have passed, what `kept` makes of them is here, and not read."""
        file = tempfile.TemporaryFile()  # noqa: SIM115 - it lives as long as this object
        places: list[tuple[int, int]] = []
        arriving = iter(rows)
        while batch := list(islice(arriving, ROWS_AT_ONCE)):
            data = pickle.dumps([kept(row) for row in batch], pickle.HIGHEST_PROTOCOL)
            places.append((file.tell(), file.write(data)))
            yield from batch
        self._file, self._places = file, places

    def _rows_at(self, start: int, size: int) -> list[Any]:
        assert self._file is not None
        self._file.seek(start)
        rows: list[Any] = pickle.loads(self._file.read(size))
        return rows
