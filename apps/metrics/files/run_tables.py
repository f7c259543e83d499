"""Runs in a table with a heading, as scripts and spreadsheets write them, beside TREC's six columns.

Separated by tabs, commas or semicolons. It has a column of queries, one of passages, and one of scores or of ranks,
each under one of its usual names in whatever case; other columns are ignored, apart from the tag. The frames of
PyTerrier have the ids in `qid` and `docno`. Numbers may have decimal commas where tabs or semicolons separate.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from apps.common.errors import InputError
from apps.common.files.faults import ErrorList
from apps.common.files.field_names import BLOCK, QUERY, SameMeaning, meant, plain_name
from apps.common.files.json_tables import bare_rows, json_rows
from apps.common.files.numbers import Decimals, whole_in
from apps.common.files.tables import DELIMITERS
from apps.common.files.tabular import TableFile, read_rows
from apps.metrics.files.trec_rows import TrecRunRow, parse_run

NAMES = {
    "query": QUERY,
    "block": (*BLOCK, "passage", "doc", "document", "document_id"),
    "score": ("score", "similarity", "relevance_score"),
    "rank": ("rank", "position", "place"),
    "tag": ("tag", "run", "run_id", "system"),
}
HEADING_BYTES = 4_096


class RunColumns(NamedTuple):
    """Where each column is, counted from 0; None where the table has none. One of score and rank is there.

    `is_headed`: the first row names them.
    """

    query: int
    block: int
    score: int | None
    rank: int | None
    tag: int | None
    is_headed: bool = True


AS_OBJECTS = "{"
"""Instead of a delimiter: the file is JSON."""
OF_QUERIES = re.compile(rb'\s*\{\s*"(?!usage")[^"]*"\s*:\s*\{\s*"[^"]*"\s*:\s*-?[0-9]')
"""Scores by passage, by query, as ranx and pytrec_eval save a run."""
HEADING_ROW = re.compile(rb'\s*(?:\[\s*|\{\s*"columns"\s*:\s*)?(\[\s*"[^"\\]*"(?:\s*,\s*"[^"\\]*")*\s*\])')
OF_RESULTS = {"id", "text", "pages", "page", "start", "end", "document_id"}
"""What objects have that say what a system returned, see `results`."""
BY_RANK = RunColumns(0, 1, None, 2, None, is_headed=False)
"""MS MARCO's form: query, passage and rank, divided by tabs, without a heading."""


def columns_of(start: bytes) -> tuple[RunColumns, str] | None:
    """The columns and the delimiter of a file that begins so; None when it is no table of a run."""
    start = start.removeprefix(b"\xef\xbb\xbf")
    if start.lstrip()[:1] in (b"{", b"["):
        columns = _named(["query", "passage", "score"] if OF_QUERIES.match(start) else _first_fields(start))
        return (columns, AS_OBJECTS) if columns else None
    line = start.split(b"\n", 1)[0].decode("utf-8-sig", errors="replace").strip()
    delimiter = next((mark for mark in DELIMITERS if mark in line), None)
    if delimiter is None:
        return None
    heading = line.split(delimiter)
    if delimiter == "\t" and len(heading) == 3 and heading[2].strip() == "1":
        return BY_RANK, delimiter
    columns = _named(heading)
    return (columns, delimiter) if columns else None


def _first_fields(start: bytes) -> list[str]:
    """The fields of the first object of JSON, none where it is cut off, or a result with a passage of its own.

    Of rows that are lists, and of a table as pandas splits it, the names of the columns.
    """
    if row := HEADING_ROW.match(start):
        return [str(name) for name in json.loads(row[1])]
    text = start.decode("utf-8", errors="replace").lstrip(" \t\r\n[")
    try:
        first, _ = json.JSONDecoder().raw_decode(text)
    except ValueError:
        return []
    names = set(map(plain_name, first)) if isinstance(first, dict) else set()
    return list(first) if names & set(BLOCK) and not names & OF_RESULTS else []


def _named(heading: Sequence[str]) -> RunColumns | None:
    """The columns that are named so; None where they are not those of a run."""
    try:
        found = {part: _place(heading, names) for part, names in NAMES.items()}
    except SameMeaning:
        return None
    query, block = found["query"], found["block"]
    if query is None or block is None or (found["score"] is None and found["rank"] is None):
        return None
    return RunColumns(query, block, found["score"], found["rank"], found["tag"])


def rows_of(
    source: TableFile, columns: RunColumns, delimiter: str, errors: ErrorList, *, tag: str
) -> Iterator[tuple[int, TrecRunRow]]:
    """The rows below the heading with their lines, in file order; `tag` where the table has no column of tags.

    Without scores the ranks give the order: the score is the rank, negated. A row with a cell missing, with a score
    or rank that is no number, or with a passage that its query has already, is added to `errors` and left out. Raises
    InputError for what ends the reading.
    """
    seen: set[tuple[str, str]] = set()
    numbers = Decimals(has_commas=delimiter not in {",", AS_OBJECTS})
    if delimiter == AS_OBJECTS:
        bare = bare_rows(source)
        heading, records = (bare[1][0][1], iter(bare[1][1:])) if bare else json_rows(source, errors)
        columns = _named(heading) or columns
    else:
        records = read_rows(source, delimiter=delimiter)
        if columns.is_headed:
            next(records, None)
    for line, cells in records:
        try:
            row = _row(source, line, cells, columns, tag, numbers)
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


def _place(heading: Sequence[str], names: Sequence[str]) -> int | None:
    own = meant(names, heading)
    return None if own is None else heading.index(own)


def _row(
    source: TableFile, line: int, cells: list[str], columns: RunColumns, tag: str, numbers: Decimals
) -> TrecRunRow:
    def cell(place: int | None) -> str:
        return cells[place].strip() if place is not None and place < len(cells) else ""

    query, block = cell(columns.query), cell(columns.block)
    if not query or not block:
        raise source.error(line, "block" if query else "query", "", "the row names none.")
    rank, score = 0, 0.0
    if columns.rank is not None:
        written = cell(columns.rank)
        found = whole_in(written)
        if found is None:
            raise source.error(line, "rank", written, f"'{written}' is not a whole number.")
        rank, score = found, -float(found)
    if columns.score is not None:
        written = cell(columns.score)
        try:
            score = numbers.read(written)
        except ValueError as reason:
            raise source.error(line, "score", written, f"'{written}' {reason}.") from reason
    return TrecRunRow(query, block, rank, score, cell(columns.tag) or tag)


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
