"""Parquet: its columns are the fields of records, by their names; those of an exported version are read as they are.

A folder for Hugging Face calls the id of a passage `_id`.
"""

from collections.abc import Iterator
from typing import Any

from apps.common.files.faults import ErrorList, all_of
from apps.common.files.parquet import LIMITS, Limits, NotRead, object_in, parquet_rows
from apps.common.files.tabular import TableFile
from apps.corpus.core.documents import Document, ReadingNote
from apps.corpus.formats.documents import SourceFile, Unreadable
from apps.corpus.formats.documents.records import Record, read_records
from apps.corpus.formats.jsonl import KNOWN, row_of
from apps.corpus.formats.rows import BlockRow, rows_from

BLOCK, HUB_ID = "block_id", "_id"
OWN = frozenset({BLOCK, "document_id", "text"})
METADATA = "metadata"


def read_parquet(source: SourceFile, limits: Limits = LIMITS) -> Iterator[Document | BlockRow | ReadingNote]:
    lines = parquet_rows(source.stream, source.size, limits)
    try:
        yield from _found(source, lines)
    except NotRead as reason:
        raise Unreadable(str(reason)) from None
    finally:
        lines.close()


def _found(source: SourceFile, lines: Iterator[list[Any]]) -> Iterator[Document | BlockRow | ReadingNote]:
    given = next(lines, [])
    names = [BLOCK if name == HUB_ID else name for name in given]
    errors = ErrorList()
    if OWN <= set(names) <= KNOWN:
        yield ReadingNote("read as the passages of an exported version")
        table = TableFile(source.path, source.stream)
        yield from rows_from(table, errors, map(_unpacked, _records(names, lines)), row_of)
    else:
        yield from read_records(source, "parquet", given, _records(given, lines), errors)
    if errors:
        raise all_of(errors)


def _unpacked(record: Record) -> tuple[int, dict[str, Any]]:
    """A row of an export without its empty cells, and with metadata as fields again."""
    number, values = record
    given = {name: value for name, value in values.items() if value is not None}
    return number, given | ({METADATA: object_in(given[METADATA])} if METADATA in given else {})


def _records(names: list[str], lines: Iterator[list[Any]]) -> Iterator[Record]:
    for number, values in enumerate(lines, 1):
        yield number, dict(zip(names, values, strict=True))
