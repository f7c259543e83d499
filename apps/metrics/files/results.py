"""Reads what a system returned for each question, with id, document, pages and text, and judgements from a table.

A result is one JSON object a line, or a row of a table with these columns, see `result_tables`:
{"qid": "T-0001", "rank": 1, "id": "c7", "document_id": "rules", "pages": [3, 4], "text": "…"}.
The question is needed, as `qid`, `query_id` or `query`, and one of id, document_id and text. Lines may be in any order
where all have a rank; where none has, the scores order them, highest first, and equal ones as in the file; without
either the order of the file counts. `start` and `end` are characters in the text of the block with this id, the end
excluded; `result_checks` compares them with the corpus. Other fields are ignored. One line may say what the run used,
see `statistics.usage`: {"usage": {"requests": 120, "errors": 2}}.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, TypeGuard

from apps.common.errors import InputError
from apps.common.files.faults import ErrorList, fault
from apps.common.files.field_names import BLOCK, QUERY, plain_name
from apps.common.files.json_lists import read_objects
from apps.common.files.numbers import is_nothing, whole_in
from apps.common.files.tables import DELIMITERS, delimiter_of
from apps.common.files.tabular import TableFile, read_csv
from apps.common.text.wording import CONTROLS
from apps.metrics.expected.rules import Pages, Returned
from apps.metrics.files.trec_rows import NO_FACET, JudgedOnce, QrelRow
from apps.metrics.statistics.usage import Usage, UsageError, checked_usage

GRADE = ("grade", "rating", "relevance", "score", "label", "judgement", "judgment", "rel")
FACET = ("facet", "subtopic")
HEAD_BYTES = 4_096


def is_headed(start: bytes) -> bool:
    """Whether a file with this start has a heading with a column of queries, and one of blocks or grades."""
    line = start.split(b"\n", 1)[0].decode("utf-8-sig", errors="replace")
    delimiter = next((mark for mark in DELIMITERS if mark in line), None)
    if delimiter is None:
        return False
    names = {plain_name(cell) for cell in line.split(delimiter)}
    return not names.isdisjoint(QUERY) and not names.isdisjoint({*BLOCK, *GRADE})


def judgements_in(source: TableFile, errors: ErrorList, once: JudgedOnce) -> Iterator[QrelRow]:
    """The judgements of a table, in file order; each pair once, or once for each facet.

    Karat's own CSV, BEIR's qrels, Quepid's lists: a column of queries, one of blocks and one of grades, each under one
    of its usual names, and optionally `facet`; others are ignored. An empty grade means an unjudged pair.

    Errors in rows are added to `errors`. Raises InputError for errors of the file as a whole.
    """
    rows = read_csv(source, errors, required=[QUERY, BLOCK, GRADE], delimiter=delimiter_of(source))
    for line, cells in rows:
        query, block, written, facet = (_cell(cells, names) for names in (QUERY, BLOCK, GRADE, FACET))
        grade = whole_in(written)
        if not query or not block:
            errors.add(source.error(line, "block" if query else "query", "", "the row names none."))
        elif is_nothing(written):
            continue
        elif grade is None:
            message = f"'{written}' is not a whole number; grades are whole, such as 0, 1, 2 or 3."
            errors.add(source.error(line, "grade", written, message))
        elif once.counts(row := QrelRow(query, block, grade, facet), line):
            yield row


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


NAMES = ("qid", "query_id", "query")
"""What the question is called; the first of them that a line has counts."""
LONGEST_NAME = 300
HIGHEST = 999_999_999
ONE_IS_NEEDED = "the line says nothing of the passage: give its id, its document_id or its text."
EMPTY = "the text is empty, and the line says nothing of the passage: leave it out, or give its id or its document_id."
OF_NO_BLOCK = "start and end count the characters of a passage of the corpus: give its id."


class ResultRow(NamedTuple):
    """One returned passage: the question as the file names it, and the rank as written, or the score without ranks."""

    qid: str
    rank: int | None
    returned: Returned
    score: float | None = None


def read_results(source: TableFile, errors: ErrorList, usage: Usage | None = None) -> Iterator[tuple[int, ResultRow]]:
    """The rows with their lines, in file order: of JSON lines, or of a table. A bad one is added to `errors`, left out.

    A line of a RAG evaluation file is a row for each of its contexts. `usage` is filled with what the run used, where
    the file says so. Raises InputError for what ends the reading, such as a damaged gzip.
    """
    if source.head(HEAD_BYTES).removeprefix(b"\xef\xbb\xbf").lstrip()[:1] in (b"{", b"[", b""):
        records = as_results(read_objects(source, errors), source.name, errors)
    else:
        from apps.metrics.files.result_tables import records_in  # most files are JSON lines

        records = records_in(source, errors)
    return rows_from(records, source.name, errors, usage)


def rows_from(
    records: Iterable[tuple[int, dict[str, Any]]], name: str, errors: ErrorList, usage: Usage | None = None
) -> Iterator[tuple[int, ResultRow]]:
    """As `read_results`, from objects with their lines. A rank that a question has already is a mistake, too."""
    seen: set[tuple[str, int]] = set()
    told: Usage = {} if usage is None else usage
    order = _Order(name)
    for line, record in records:
        try:
            if "usage" in record and not any(field in record for field in NAMES):
                told.update(_usage(name, line, record["usage"], told))
                continue
            rank, score = order.place_of(line, record)
            row = _row(name, line, record, rank, score)
            if rank is not None and (row.qid, rank) in seen:
                message = f"the question '{row.qid}' has a result of rank {rank} already."
                raise fault(name, line, "rank", rank, message)
        except InputError as error:
            errors.add(error)
            continue
        if rank is not None:
            seen.add((row.qid, rank))
        yield line, row


def best_first(rows: Iterable[ResultRow]) -> dict[str, list[Returned]]:
    """What was returned for each question: by rank, else by score, else as in the file."""
    of_question: dict[str, list[ResultRow]] = {}
    for row in rows:
        of_question.setdefault(row.qid, []).append(row)
    return {qid: [row.returned for row in sorted(found, key=_place)] for qid, found in of_question.items()}


def _place(row: ResultRow) -> float:
    return row.rank if row.rank is not None else -(row.score or 0.0)


class _Order:
    """What orders the lines of a file: the first one that has ranks or scores, or none, decides for all."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.has: dict[str, bool] = {}

    def place_of(self, line: int, record: dict[str, Any]) -> tuple[int | None, float | None]:
        """The rank, or else the score. Raises InputError."""
        if self._has(line, record, "rank"):
            rank = record.get("rank")
            if not _is_whole(rank):
                raise fault(self.name, line, "rank", rank, "must be a whole number of at most nine digits.")
            return rank, None
        if self._has(line, record, "score"):
            score = record.get("score")
            if not _is_number(score):
                raise fault(self.name, line, "score", score, "must be a number: the scores are the order here.")
            return None, float(score)
        return None, None

    def _has(self, line: int, record: dict[str, Any], field: str) -> bool:
        value = record.get(field)
        has = self.has.setdefault(field, value is not None)
        if has and value is None:
            raise fault(self.name, line, field, "", f"the line needs a {field}, as the lines before have one.")
        if not has and value is not None:
            raise fault(self.name, line, field, value, f"the lines before have no {field}: give all one, or none.")
        return has


def _usage(name: str, line: int, given: Any, told: Usage) -> Usage:
    if told or not isinstance(given, dict):
        message = "an earlier line has the usage already." if told else 'must be an object, such as {"requests": 120}.'
        raise fault(name, line, "usage", given, message)
    try:
        return checked_usage(given)
    except UsageError as error:
        raise fault(name, line, f"usage.{error.field}", error.value, f"{error}") from None


def _row(name: str, line: int, record: dict[str, Any], rank: int | None, score: float | None) -> ResultRow:
    def refuse(field: str, message: str) -> InputError:
        return fault(name, line, field, record.get(field, ""), message)

    named = next((field for field in NAMES if record.get(field) is not None), NAMES[0])
    qid = record.get(named)
    if not isinstance(qid, str) or not qid.strip():
        raise refuse(named, f"every line needs a {NAMES[0]}, the id of its question as text.")
    for field in ("id", "document_id", "text"):
        if not isinstance(record.get(field) or "", str):
            raise refuse(field, f"the {field} must be a text.")
    for field in ("id", "document_id"):
        if len(record.get(field) or "") > LONGEST_NAME:
            raise refuse(field, f"the {field} has more than {LONGEST_NAME} letters.")
    for field in (named, "id", "document_id"):
        if CONTROLS.search((record.get(field) or "").strip()):
            raise refuse(field, "it contains control characters, which no id has.")
    returned = Returned(
        id=(record.get("id") or "").strip(),
        document_id=(record.get("document_id") or "").strip(),
        pages=_pages(record.get("pages"), refuse),
        text=record.get("text") or "",
        span=_span(record, refuse),
    )
    if returned.span and not (returned.id or returned.document_id):
        raise refuse("id", OF_NO_BLOCK)
    if not (returned.id or returned.document_id or returned.text.strip()):
        raise refuse("text", EMPTY) if record.get("text") is not None else refuse("", ONE_IS_NEEDED)
    return ResultRow(qid.strip(), rank, returned, score)


def _pages(value: Any, refuse: Any) -> Pages | None:
    if value is None or value == []:
        return None
    if isinstance(value, list) and len(value) == 2 and all(map(_is_whole, value)) and value[0] <= value[1]:
        return value[0], value[1]
    raise refuse("pages", "pages must be the first and the last page, such as [3, 4].")


def _span(record: dict[str, Any], refuse: Any) -> tuple[int, int] | None:
    start, end = record.get("start"), record.get("end")
    if start is None and end is None:
        return None
    for field, value, other in (("start", start, "end"), ("end", end, "start")):
        if value is None:
            raise refuse(field, f"the line has {other} and no {field}: give both, or none.")
        if not _is_whole(value):
            raise refuse(field, f"the {field} must be a whole number from 0, of at most nine digits.")
    assert start is not None
    assert end is not None
    if start >= end:
        raise refuse("end", f"the end must be above the start, {start}: it is the place after the last character.")
    return start, end


def _is_whole(value: Any) -> TypeGuard[int]:
    return type(value) is int and 0 <= value <= HIGHEST


def _is_number(value: Any) -> TypeGuard[int | float]:
    try:
        return type(value) in (int, float) and math.isfinite(value)
    except OverflowError:  # a whole number of many digits
        return False
