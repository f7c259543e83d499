"""Parquet: its columns are the fields of records, by their names."""

from collections.abc import Iterator
from typing import Any

from apps.common.files.faults import ErrorList, all_of
from apps.common.files.parquet import LIMITS, Limits, NotRead, parquet_rows
from apps.corpus.core.documents import Document, ReadingNote
from apps.corpus.formats.documents import SourceFile, Unreadable
from apps.corpus.formats.documents.records import Record, read_records
from apps.corpus.formats.rows import BlockRow


def read_parquet(source: SourceFile, limits: Limits = LIMITS) -> Iterator[Document | BlockRow | ReadingNote]:
    lines = parquet_rows(source.stream, source.size, limits)
    try:
        yield from _found(source, lines)
    except NotRead as reason:
        raise Unreadable(str(reason)) from None
    finally:
        lines.close()


def _found(source: SourceFile, lines: Iterator[list[Any]]) -> Iterator[Document | BlockRow | ReadingNote]:
    names = next(lines, [])
    errors = ErrorList()
    yield from read_records(source, "parquet", names, _records(names, lines), errors)
    if errors:
        raise all_of(errors)


def _records(names: list[str], lines: Iterator[list[Any]]) -> Iterator[Record]:
    for number, values in enumerate(lines, 1):
        yield number, dict(zip(names, values, strict=True))
