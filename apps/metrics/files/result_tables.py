"""Tables of returned passages: the columns are the fields of a line of results, under their usual names.

A table is separated text, a workbook or Parquet. It has a column of questions, and one of texts, of pages, or of starts
and ends, but none of passages of the corpus: with one it is a run of those, see `run_tables`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from apps.common.files.anytable import is_packed_table, open_table
from apps.common.files.faults import ErrorList
from apps.common.files.field_names import BLOCK
from apps.common.files.tables import DELIMITERS
from apps.common.files.tabular import TableFile
from apps.metrics.files.run_tables import columns_of

COLUMNS = {
    "qid": ("qid", "query_id", "query", "query-id", "topic"),
    "rank": ("rank", "position", "place"),
    "score": ("score", "similarity", "_score"),
    "id": ("id", "chunk", "chunk_id"),
    "document_id": ("document_id", "document", "doc"),
    "pages": ("pages", "page"),
    "text": ("text", "content", "passage_text"),
    "start": ("start",),
    "end": ("end",),
}
OF_THE_CORPUS = {*BLOCK, "passage", "passage_id", "passage id"}
SAYS_WHAT = ("id", "document_id", "text")
WHOLE = re.compile(r"([0-9]{1,9})(\.0+)?\Z", re.ASCII)


def are_results(source: TableFile, start: bytes) -> bool:
    """Whether a file, which begins so, has passages of a system's own. The source stays at its beginning."""
    if start.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] in (b"{", b"["):
        return columns_of(start) is None
    return is_packed_table(source) or _is_table(start)


def _is_table(start: bytes) -> bool:
    line = start.split(b"\n", 1)[0].decode("utf-8-sig", errors="replace").strip()
    delimiter = next((mark for mark in DELIMITERS if mark in line), None)
    if delimiter is None:
        return False
    heading = [cell.strip().strip('"').strip().lower() for cell in line.split(delimiter)]
    found = _places(heading)
    is_told = "text" in found or "pages" in found or {"start", "end"} <= found.keys()
    return "qid" in found and is_told and not OF_THE_CORPUS.intersection(heading)


def _places(heading: list[str]) -> dict[str, int]:
    """The place of each field of a result that the heading has."""
    there = {field: [heading.index(name) for name in names if name in heading] for field, names in COLUMNS.items()}
    return {field: places[0] for field, places in there.items() if places}


def records_in(source: TableFile, errors: ErrorList) -> Iterator[tuple[int, dict[str, Any]]]:
    """The rows as lines of JSON would have them, with their lines. Raises InputError for what is no such table."""
    table = open_table(source, errors)
    places = _places([heading.strip().lower() for heading in table.headings])
    if "qid" not in places:
        raise source.error(table.line, "qid", "", f"the table has no column {' or '.join(COLUMNS['qid'][:3])}.")
    if not places.keys() & set(SAYS_WHAT):
        raise source.error(table.line, "text", "", "the table has no column text, id or document_id.")
    return ((line, _record(cells, places)) for line, cells in table.rows)


def _record(cells: list[str], places: dict[str, int]) -> dict[str, Any]:
    """What is no number stays as it is written, and is refused."""
    record: dict[str, Any] = {field: cells[place] for field, place in places.items()}
    for field in ("rank", "start", "end"):
        if field in record:
            record[field] = _number(record[field])
    for field in ("start", "end", "text"):
        if record.get(field) == "":
            record[field] = None
    if "score" in record:
        record["score"] = _decimal(record["score"])
    if pages := record.pop("pages", "").strip().strip("[]"):
        ends = [_number(part) for part in re.split("[-–,]", pages)]
        record["pages"] = ends * 2 if len(ends) == 1 else ends
    return record


def _number(cell: str) -> int | str:
    """A whole number; programs write one as 3.0 where other cells of its column are empty."""
    match = WHOLE.match(cell.strip())
    return int(match[1]) if match else cell.strip()


def _decimal(cell: str) -> float | str:
    try:
        return float(cell)
    except ValueError:
        return cell
