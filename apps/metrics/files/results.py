"""Reads what a system returned for each question, with id, document, pages and text, and judgements from a table.

A result is one JSON object a line:
{"qid": "T-0001", "rank": 1, "id": "c7", "document_id": "rules", "pages": [3, 4], "text": "…"}.
`qid` and `rank` are needed, and one of id, document_id and text; other fields are ignored. Lines may be in any order.
One line may say what the run used, see `statistics.usage`: {"usage": {"requests": 120, "errors": 2}}.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, TypeGuard

from apps.common.errors import InputError
from apps.common.files.faults import ErrorList, fault
from apps.common.files.tables import BLOCK, DELIMITERS, QUERY, delimiter_of
from apps.common.files.tabular import TableFile, read_csv, read_jsonl
from apps.metrics.expected.rules import Pages, Returned
from apps.metrics.files.trec_rows import FacetRow
from apps.metrics.statistics.usage import Usage, UsageError, checked_usage

GRADE = ("grade", "rating", "relevance", "score", "label", "judgement", "judgment")
FACET = ("facet", "subtopic")
NO_FACET = "0"
WHOLE = re.compile(r"[+-]?[0-9]{1,9}\Z", re.A)


def is_headed(start: bytes) -> bool:
    """Whether a file with this start has a heading with a column of queries, and one of blocks or grades."""
    line = start.split(b"\n", 1)[0].decode("utf-8", errors="replace")
    delimiter = next((mark for mark in DELIMITERS if mark in line), None)
    if delimiter is None:
        return False
    names = {cell.strip().strip('"') for cell in line.split(delimiter)}
    return bool(names & set(QUERY)) and bool(names & {*BLOCK, *GRADE})


def judgements_in(source: TableFile, errors: ErrorList, *, by_facet: bool) -> Iterator[FacetRow]:
    """The judgements of a table, in file order; each pair once, or once for each facet.

    Karat's own CSV, BEIR's qrels, Quepid's lists: a column of queries, one of blocks and one of grades, each under one
    of its usual names, and optionally `facet`; others are ignored. An empty grade means an unjudged pair.

    Errors in rows are added to `errors`. Raises InputError for errors of the file as a whole.
    """
    first: dict[tuple[str, str, str], int] = {}
    rows = read_csv(source, errors, required=[QUERY, BLOCK, GRADE], delimiter=delimiter_of(source))
    for line, cells in rows:
        query, block, grade = (_cell(cells, names) for names in (QUERY, BLOCK, GRADE))
        facet = _cell(cells, FACET) if by_facet else NO_FACET
        if not query or not block:
            errors.add(source.error(line, "block" if query else "query", "", "the row names none."))
        elif not grade:
            continue
        elif not WHOLE.match(grade):
            message = f"'{grade}' is not a whole number; grades are whole, such as 0, 1, 2 or 3."
            errors.add(source.error(line, "grade", grade, message))
        elif first.setdefault((query, facet, block), line) != line:
            message = f"'{block}' appears twice for query '{query}', first in line {first[query, facet, block]}."
            errors.add(source.error(line, "block", block, message))
        else:
            yield FacetRow(query, facet, block, int(grade))


def _cell(cells: dict[str, str], names: tuple[str, ...]) -> str:
    return next((cells[name].strip() for name in names if name in cells), NO_FACET)


QUESTIONS = ("query_id", "user_input", "question")
CONTEXTS = ("retrieved_contexts", "contexts")
IDS = ("retrieved_context_ids", "context_ids")


def as_results(
    records: Iterable[tuple[int, dict[str, Any]]], name: str, errors: ErrorList
) -> Iterator[tuple[int, dict[str, Any]]]:
    """The records, with a result for each context of those that have contexts instead of one result.

    The names are those of ragas and of the files that evaluate generated answers: {"user_input": "…",
    "retrieved_contexts": ["…", "…"]}, best first, with ids in `retrieved_context_ids` where there are any.
    """
    for line, record in records:
        if "qid" in record or not any(field in record for field in (*CONTEXTS, *IDS)):
            yield line, record
            continue
        try:
            yield from ((line, result) for result in _results(name, line, record))
        except InputError as error:
            errors.add(error)


def _results(name: str, line: int, record: dict[str, Any]) -> list[dict[str, Any]]:
    question = next((record[field] for field in QUESTIONS if record.get(field)), None)
    if not isinstance(question, str) or not question.strip():
        raise fault(name, line, QUESTIONS[1], question or "", "every line needs its question, as text.")
    texts, ids = _list(name, line, record, CONTEXTS), _list(name, line, record, IDS)
    if texts and ids and len(texts) != len(ids):
        message = f"there are {len(ids)} ids for {len(texts)} contexts; give one for each."
        raise fault(name, line, next(field for field in IDS if field in record), "", message)
    results = []
    for place in range(max(len(texts), len(ids))):
        given = {"text": texts[place]} if texts else {}
        known = {"id": ids[place]} if ids else {}
        results.append({"qid": question, "rank": place + 1, **given, **known})
    return results


def _list(name: str, line: int, record: dict[str, Any], fields: tuple[str, ...]) -> list[str]:
    """The texts in the first of these fields that the record has; numbers are ids as well."""
    field = next((field for field in fields if record.get(field) is not None), "")
    values = record.get(field) or []
    if not isinstance(values, list):
        raise fault(name, line, field, values, "must be a list of texts, best first.")
    for place, value in enumerate(values, 1):
        if isinstance(value, bool) or not isinstance(value, str | int):
            raise fault(name, line, f"{field}[{place}]", value, "must be a text.")
    return [str(value) for value in values]


FIELDS = ("qid", "rank", "id", "document_id", "pages", "text")
LONGEST_NAME = 300
HIGHEST = 999_999_999
ONE_IS_NEEDED = "the line says nothing of the passage: give its id, its document_id or its text."


class ResultRow(NamedTuple):
    """One returned passage: the question as the file names it, and the rank as written."""

    qid: str
    rank: int
    returned: Returned


def read_results(source: TableFile, errors: ErrorList, usage: Usage | None = None) -> Iterator[tuple[int, ResultRow]]:
    """The rows with their lines, in file order. A malformed line is added to `errors` and left out.

    A line of a RAG evaluation file is a row for each of its contexts. `usage` is filled with what the run used, where
    the file says so. Raises InputError for what ends the reading, such as a damaged gzip.
    """
    return rows_from(as_results(read_jsonl(source, errors), source.name, errors), source.name, errors, usage)


def rows_from(
    records: Iterable[tuple[int, dict[str, Any]]], name: str, errors: ErrorList, usage: Usage | None = None
) -> Iterator[tuple[int, ResultRow]]:
    """As `read_results`, from objects with their lines. A rank that a question has already is a mistake, too."""
    seen: set[tuple[str, int]] = set()
    told: Usage = {} if usage is None else usage
    for line, record in records:
        try:
            if "usage" in record and "qid" not in record:
                told.update(_usage(name, line, record["usage"], told))
                continue
            row = _row(name, line, record)
            if (row.qid, row.rank) in seen:
                message = f"the question '{row.qid}' has a result of rank {row.rank} already."
                raise fault(name, line, "rank", row.rank, message)
        except InputError as error:
            errors.add(error)
            continue
        seen.add((row.qid, row.rank))
        yield line, row


def _usage(name: str, line: int, given: Any, told: Usage) -> Usage:
    if told or not isinstance(given, dict):
        message = "an earlier line has the usage already." if told else 'must be an object, such as {"requests": 120}.'
        raise fault(name, line, "usage", given, message)
    try:
        return checked_usage(given)
    except UsageError as error:
        raise fault(name, line, f"usage.{error.field}", error.value, f"{error}") from None


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
