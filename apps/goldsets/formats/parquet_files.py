"""Writes one Parquet file from rows, a row group at a time, so that memory does not grow with the rows."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import pyarrow
import pyarrow.parquet

Row = Mapping[str, Any]
GROUP_ROWS = 20_000
GROUP_LETTERS = 8_000_000
"""A row group ends with as many rows, or with as many characters of text in it."""
WRITTEN_BY = f"pyarrow {pyarrow.__version__}"
"""What the bytes depend on, besides the rows: another release of it may pack the same rows differently."""

TEXT = pyarrow.string()
TEXTS = pyarrow.list_(TEXT)
WHOLE = pyarrow.int32()
YES_OR_NO = pyarrow.bool_()


def parquet_file(columns: Mapping[str, pyarrow.DataType], rows: Iterable[Row]) -> Iterator[bytes]:
    """The file in pieces; a file without rows has its columns all the same."""
    schema = pyarrow.schema(list(columns.items()))
    out = _Pieces()
    with pyarrow.parquet.ParquetWriter(out, schema, compression="zstd", store_schema=False) as writer:
        for group in _groups(rows):
            writer.write_table(pyarrow.Table.from_pylist(group, schema), row_group_size=GROUP_ROWS)
            yield from out.taken()
    yield from out.taken()


def json_text(value: Mapping[str, Any]) -> str:
    """Fields of any shape as one cell, in the order of their names."""
    return json.dumps(dict(sorted(value.items())), ensure_ascii=False, allow_nan=False)


def _groups(rows: Iterable[Row]) -> Iterator[list[Row]]:
    group: list[Row] = []
    letters = 0
    for row in rows:
        group.append(row)
        letters += sum(len(value) for value in row.values() if isinstance(value, str))
        if len(group) == GROUP_ROWS or letters >= GROUP_LETTERS:
            yield group
            group, letters = [], 0
    if group:
        yield group


class _Pieces:
    """A file that hands on what was written to it, and keeps nothing."""

    closed = False

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._size = 0

    def write(self, data: Any) -> int:
        piece = bytes(data)
        self._pieces.append(piece)
        self._size += len(piece)
        return len(piece)

    def tell(self) -> int:
        return self._size

    def flush(self) -> None:
        """Nothing is held back."""

    def writable(self) -> bool:
        return True

    def readable(self) -> bool:
        return False

    def seekable(self) -> bool:
        return False

    def close(self) -> None:
        """The pieces stay to be taken."""

    def taken(self) -> list[bytes]:
        pieces, self._pieces = self._pieces, []
        return pieces
