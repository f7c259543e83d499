"""Reads results: what a system returned for each question, as much as it tells of id, document, pages and text.

One JSON object a line: {"qid": "T-0001", "rank": 1, "id": "c7", "document_id": "rules", "pages": [3, 4], "text": "…"}.
`qid` and `rank` are needed, and one of id, document_id and text; other fields are ignored. Lines may be in any order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, TypeGuard

from apps.common.errors import InputError
from apps.common.files.faults import ErrorList, fault
from apps.common.files.tabular import TableFile, read_jsonl
from apps.metrics.expected.questions import Pages, Returned
from apps.metrics.files.rag_results import as_results

FIELDS = ("qid", "rank", "id", "document_id", "pages", "text")
LONGEST_NAME = 300
HIGHEST = 999_999_999
ONE_IS_NEEDED = "the line says nothing of the passage: give its id, its document_id or its text."


class ResultRow(NamedTuple):
    """One returned passage: the question as the file names it, and the rank as written."""

    qid: str
    rank: int
    returned: Returned


def read_results(source: TableFile, errors: ErrorList) -> Iterator[tuple[int, ResultRow]]:
    """The rows with their lines, in file order. A malformed line is added to `errors` and left out.

    A line of a RAG evaluation file is a row for each of its contexts. Raises InputError for what ends the reading, such
    as a damaged gzip.
    """
    return rows_from(as_results(read_jsonl(source, errors), source.name, errors), source.name, errors)


def rows_from(
    records: Iterable[tuple[int, dict[str, Any]]], name: str, errors: ErrorList
) -> Iterator[tuple[int, ResultRow]]:
    """As `read_results`, from objects with their lines. A rank that a question has already is a mistake, too."""
    seen: set[tuple[str, int]] = set()
    for line, record in records:
        try:
            row = _row(name, line, record)
            if (row.qid, row.rank) in seen:
                message = f"the question '{row.qid}' has a result of rank {row.rank} already."
                raise fault(name, line, "rank", row.rank, message)
        except InputError as error:
            errors.add(error)
            continue
        seen.add((row.qid, row.rank))
        yield line, row


def _row(name: str, line: int, record: dict[str, Any]) -> ResultRow:
    def refuse(field: str, message: str) -> InputError:
        return fault(name, line, field, record.get(field, ""), message)

    qid = record.get("qid")
    if not isinstance(qid, str) or not qid.strip():
        raise refuse("qid", "every line needs a qid, the id of its question as text.")
    rank = record.get("rank", -1)
    if not _is_whole(rank):
        raise refuse("rank", "every line needs a rank, a whole number of at most nine digits.")
    for field in ("id", "document_id", "text"):
        if not isinstance(record.get(field) or "", str):
            raise refuse(field, f"the {field} must be a text.")
    for field in ("id", "document_id"):
        if len(record.get(field) or "") > LONGEST_NAME:
            raise refuse(field, f"the {field} has more than {LONGEST_NAME} letters.")
    returned = Returned(
        id=(record.get("id") or "").strip(),
        document_id=(record.get("document_id") or "").strip(),
        pages=_pages(record.get("pages"), refuse),
        text=record.get("text") or "",
    )
    if not (returned.id or returned.document_id or returned.text.strip()):
        raise refuse("", ONE_IS_NEEDED)
    return ResultRow(qid.strip(), rank, returned)


def _pages(value: Any, refuse: Any) -> Pages | None:
    if value is None or value == []:
        return None
    if isinstance(value, list) and len(value) == 2 and all(map(_is_whole, value)) and value[0] <= value[1]:
        return value[0], value[1]
    raise refuse("pages", "pages must be the first and the last page, such as [3, 4].")


def _is_whole(value: Any) -> TypeGuard[int]:
    return type(value) is int and 0 <= value <= HIGHEST
