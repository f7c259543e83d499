"""A version as Parquet files, each written from rows a group at a time, so that memory does not grow with the rows."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from importlib import metadata
from typing import TYPE_CHECKING, Any

from apps.goldsets.formats.content import Content, FrozenBlock, FrozenQuery, TripleRow, in_order

if TYPE_CHECKING:
    import pyarrow  # loaded on use: 25 MB that a process without such a file does without
    import pyarrow.parquet

Row = Mapping[str, Any]
Kind = str | list[Any] | dict[str, Any]
"""The type of a column: by its name, as a list of the type in it, or as a record of named types."""
GROUP_ROWS = 20_000
GROUP_LETTERS = 8_000_000
"""A row group ends with as many rows, or with as many characters of text in it."""
PIECE_BYTES = 1 << 20
WRITTEN_BY = f"pyarrow {metadata.version('pyarrow')}"
"""What the bytes depend on, besides the rows: another release of it may pack the same rows differently."""

TEXT: Kind = "string"
TEXTS: Kind = [TEXT]
WHOLE: Kind = "int32"
LONG: Kind = "int64"
YES_OR_NO: Kind = "bool"


def parquet_file(columns: Mapping[str, Kind], rows: Iterable[Row]) -> Iterator[bytes]:
    """The file in pieces; a file without rows has its columns all the same."""
    out = _Pieces()
    with _writer(out, columns) as writer:
        for group in _groups(rows, columns):
            _write(writer, group)
            yield from out.taken()
    yield from out.taken()


class SecondFile:
    """A Parquet file of rows that pass by on their way to another file: they are read from the database once.

    It is on disk meanwhile, so that memory does not grow with the rows.
    """

    def __init__(self, columns: Mapping[str, Kind]) -> None:
        self._columns = columns
        self._file = tempfile.TemporaryFile()  # noqa: SIM115 - closed when its pieces are taken, or with this object

    def passing(self, rows: Iterable[Row]) -> Iterator[Row]:
        with _writer(self._file, self._columns) as writer:
            for group in _groups(rows, self._columns):
                yield from group
                _write(writer, group)

    def pieces(self) -> Iterator[bytes]:
        """The file, when all rows have passed."""
        with self._file as file:
            file.seek(0)
            while piece := file.read(PIECE_BYTES):
                yield piece


def json_text(value: Mapping[str, Any]) -> str:
    """Fields of any shape as one cell, in the order of their names."""
    return json.dumps(dict(sorted(value.items())), ensure_ascii=False, allow_nan=False)


def _writer(out: Any, columns: Mapping[str, Kind]) -> pyarrow.parquet.ParquetWriter:
    import pyarrow.parquet

    schema = pyarrow.schema([(name, _arrow_type(kind)) for name, kind in columns.items()])
    return pyarrow.parquet.ParquetWriter(out, schema, compression="zstd", store_schema=False)


def _arrow_type(kind: Kind) -> pyarrow.DataType:
    import pyarrow

    if isinstance(kind, list):
        return pyarrow.list_(_arrow_type(kind[0]))
    if isinstance(kind, dict):
        return pyarrow.struct([(name, _arrow_type(inner)) for name, inner in kind.items()])
    return pyarrow.type_for_alias(kind)


def _write(writer: pyarrow.parquet.ParquetWriter, group: list[Row]) -> None:
    import pyarrow

    writer.write_table(pyarrow.Table.from_pylist(group, writer.schema), row_group_size=GROUP_ROWS)


def _groups(rows: Iterable[Row], columns: Mapping[str, Kind]) -> Iterator[list[Row]]:
    texts = [name for name, kind in columns.items() if kind == TEXT]
    group: list[Row] = []
    letters = 0
    for row in rows:
        group.append(row)
        letters += sum([len(row[name] or "") for name in texts])
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


BLOCKS = {
    "block_id": TEXT,
    "document_id": TEXT,
    "document_title": TEXT,
    "title": TEXT,
    "section": TEXTS,
    "page_start": WHOLE,
    "page_end": WHOLE,
    "text": TEXT,
    "metadata": TEXT,
    "redacted": TEXT,
}
GRADES = {"query_id": TEXT, "block_id": TEXT, "grade": WHOLE, "resolution": TEXT, "judges": WHOLE, "split": TEXT}
QUERIES = {
    "query_id": TEXT,
    "text": TEXT,
    "label": TEXT,
    "intent": TEXT,
    "description": TEXT,
    "source": TEXT,
    "difficulty": TEXT,
    "domain": TEXT,
    "query_type": TEXT,
    "group": TEXT,
    "tags": TEXTS,
    "metadata": TEXT,
    "split": TEXT,
}
EXPECTED = {"block_id": TEXT, "document_id": TEXT, "page_start": WHOLE, "page_end": WHOLE, "evidence": TEXTS}
TRIPLES = {
    "triple_id": TEXT,
    "query_id": TEXT,
    "question": TEXT,
    "expected_answer": TEXT,
    "expected_blocks": [EXPECTED],
    "match": TEXT,
    "domain": TEXT,
    "difficulty": TEXT,
    "added_by": TEXT,
    "added_at": TEXT,
    "reviewed_by": TEXTS,
    "resolution": TEXT,
    "machine_written": YES_OR_NO,
    "split": TEXT,
}


def files(content: Content) -> Iterator[tuple[str, Iterator[bytes]]]:
    blocks = in_order(content.blocks(), lambda r: (r.block_id,))
    yield "parquet/corpus.parquet", parquet_file(BLOCKS, map(block_values, blocks))
    grades = in_order(content.grades(), lambda r: (r.query_id, r.block_id))
    grade_values = ({name: getattr(row, name) for name in GRADES} for row in grades)
    yield "parquet/judgements.parquet", parquet_file(GRADES, grade_values)
    queries = in_order(content.queries(), lambda r: (r.query_id,))
    yield "parquet/queries.parquet", parquet_file(QUERIES, map(query_values, queries))
    triples = in_order(content.triples(), lambda r: (r.triple_id,))
    yield "parquet/triples.parquet", parquet_file(TRIPLES, map(triple_values, triples))


def block_values(row: FrozenBlock) -> dict[str, Any]:
    return {
        **{name: getattr(row, name) for name in BLOCKS},
        "metadata": json_text(row.metadata),
        "redacted": json_text(row.redacted) if row.redacted else None,
    }


def query_values(row: FrozenQuery) -> dict[str, Any]:
    return {**{name: getattr(row, name) for name in QUERIES}, "metadata": json_text(row.metadata)}


def triple_values(row: TripleRow) -> dict[str, Any]:
    own = {name: getattr(row, name) for name in TRIPLES if hasattr(row, name)}
    return {
        **own,
        "expected_blocks": [block._asdict() for block in row.blocks],
        "machine_written": row.is_machine_written,
    }
