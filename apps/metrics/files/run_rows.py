"""The rows of a run from an open file: TREC's six columns, or a table with a heading."""

from __future__ import annotations

from collections.abc import Iterator

from apps.common.files.faults import ErrorList
from apps.common.files.tabular import TableFile
from apps.metrics.files.run_tables import HEADING_BYTES, columns_of, rows_of, tag_of_name
from apps.metrics.files.trec_rows import TrecRunRow, parse_run


def is_table(source: TableFile) -> bool:
    """Whether a run is a table with a heading. The source is at its beginning, before and after."""
    return columns_of(source.head(HEADING_BYTES)) is not None


def run_rows(source: TableFile, errors: ErrorList) -> Iterator[TrecRunRow]:
    """The rows in file order; those with a mistake are added to `errors` and left out. The source is at its start."""
    table = columns_of(source.head(HEADING_BYTES))
    if table is None:
        yield from parse_run(_lines_of(source), source.name, errors=errors)
    else:
        yield from (row for _, row in rows_of(source, *table, errors, tag=tag_of_name(source.name)))


def _lines_of(source: TableFile) -> Iterator[bytes]:
    number = 1
    while line := source.read_line(number):
        yield line
        number += 1
