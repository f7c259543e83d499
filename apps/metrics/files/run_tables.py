"""Runs in a table with a heading, as scripts and spreadsheets write them, beside TREC's six columns.

Separated by tabs, commas or semicolons. It has a column of queries, one of passages, and one of scores or of ranks,
each under one of its usual names in whatever case; other columns are ignored, apart from the tag.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from apps.common.errors import InputError
from apps.common.files.faults import ErrorList
from apps.common.files.tables import BLOCK, DELIMITERS, QUERY
from apps.common.files.tabular import TableFile, read_rows
from apps.metrics.files.trec_rows import TrecRunRow, parse_run

NAMES = {
    "query": QUERY,
    "block": (*BLOCK, "passage", "passage_id", "passage id", "doc", "document", "document_id"),
    "score": ("score", "similarity", "_score"),
    "rank": ("rank", "position", "place"),
    "tag": ("tag", "run", "system"),
}
HEADING_BYTES = 4_096


class RunColumns(NamedTuple):
    """Where each column is, counted from 0; None where the table has none. One of score and rank is there."""

    query: int
    block: int
    score: int | None
    rank: int | None
    tag: int | None


def columns_of(start: bytes) -> tuple[RunColumns, str] | None:
    """The columns and the delimiter of a file that begins so; None when it is no table of a run with a heading."""
    line = start.split(b"\n", 1)[0].decode("utf-8-sig", errors="replace").strip()
    delimiter = next((mark for mark in DELIMITERS if mark in line), None)
    if delimiter is None:
        return None
    heading = [cell.strip().strip('"').strip().lower() for cell in line.split(delimiter)]
    found = {part: _place(heading, names) for part, names in NAMES.items()}
    query, block = found["query"], found["block"]
    if query is None or block is None or (found["score"] is None and found["rank"] is None):
        return None
    return RunColumns(query, block, found["score"], found["rank"], found["tag"]), delimiter


def rows_of(
    source: TableFile, columns: RunColumns, delimiter: str, errors: ErrorList, *, tag: str
) -> Iterator[tuple[int, TrecRunRow]]:
    """The rows below the heading with their lines, in file order; `tag` where the table has no column of tags.

    Without scores the ranks give the order: the score is the rank, negated. A row with a cell missing, with a score
    or rank that is no number, or with a passage that its query has already, is added to `errors` and left out. Raises
    InputError for what ends the reading.
    """
    seen: set[tuple[str, str]] = set()
    records = read_rows(source, delimiter=delimiter)
    next(records, None)  # the heading
    for line, cells in records:
        try:
            row = _row(source, line, cells, columns, tag)
        except InputError as error:
            errors.add(error)
            continue
        if (row.query_id, row.block_id) in seen:
            message = f"'{row.block_id}' is listed twice for query '{row.query_id}'."
            errors.add(source.error(line, "block", row.block_id, message))
        else:
            seen.add((row.query_id, row.block_id))
            yield line, row


def tag_of_name(name: str) -> str:
    """The tag of a file that names none: the name of the file."""
    return "-".join(Path(name.removesuffix(".gz")).stem.split()) or "run"


def _place(heading: list[str], names: Iterable[str]) -> int | None:
    return next((heading.index(name) for name in names if name in heading), None)


def _row(source: TableFile, line: int, cells: list[str], columns: RunColumns, tag: str) -> TrecRunRow:
    def cell(place: int | None) -> str:
        return cells[place].strip() if place is not None and place < len(cells) else ""

    query, block = cell(columns.query), cell(columns.block)
    if not query or not block:
        raise source.error(line, "block" if query else "query", "", "the row names none.")
    rank = _number(source, line, "rank", cell(columns.rank)) if columns.rank is not None else 0.0
    score = _number(source, line, "score", cell(columns.score)) if columns.score is not None else -rank
    return TrecRunRow(query, block, int(rank), score, cell(columns.tag) or tag)


def _number(source: TableFile, line: int, field: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise source.error(line, field, text, f"'{text}' is not a finite number.")
    return value


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
