"""Judgements as tables, with cells that a spreadsheet would execute made safe.

`csv_files`: one row for each judged pair. `files`: every single answer, as CSV and as Parquet, people by pseudonym,
with grade, times, note, guideline and round. `karat agree` reads both by their headings: an item is a query with a
block. Where judges settled differences, what they answered after seeing each other's grades is a table of its own.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import groupby
from operator import attrgetter
from typing import Any

from apps.common.files.csvsafe import line_writer, safe_cell
from apps.common.text.wording import plural
from apps.goldsets.formats.content import Content, GradeRow, JudgementRow, in_order
from apps.goldsets.formats.parquet_files import TEXT, WHOLE, SecondFile

COLUMNS = {
    "query_id": TEXT,
    "block_id": TEXT,
    "annotator": TEXT,
    "grade": WHOLE,
    "pass": WHOLE,
    "cant_judge": TEXT,
    "note": TEXT,
    "given_at": TEXT,
    "active_ms": WHOLE,
    "away_ms": WHOLE,
    "round": WHOLE,
    "guideline": WHOLE,
    "split": TEXT,
}
FACETS = "facets"
"""The last column of a version with subtopics, and of no other."""
_CELLS = attrgetter(*("pass_number" if name == "pass" else name for name in COLUMNS))


def files(content: Content) -> Iterator[tuple[str, Iterator[bytes]]]:
    """No file at all for a reader who may not see single answers."""
    answers = content.judgements()
    if answers is None:
        return
    columns = COLUMNS | ({FACETS: TEXT} if any(query.facets for query in content.queries()) else {})
    packed, second = SecondFile(columns), list[JudgementRow]()
    values = (_values(row, columns) for row in _with_second(in_order(answers, _key), second))
    yield "judgements/judgements.csv", _lines(packed.passing(values), columns)
    yield "judgements/judgements.parquet", packed.pieces()
    if second:
        yield "judgements/reconciled.csv", _second_lines(second)


SECOND_COLUMNS = ("query_id", "block_id", "annotator", "first_grade", "second_grade", "reason", "round", "split")


def _with_second(rows: Iterable[JudgementRow], second: list[JudgementRow]) -> Iterator[JudgementRow]:
    """The same rows; those whose judge was asked for a second answer, which are few, are also put into `second`."""
    for row in rows:
        if row.second is not None:
            second.append(row)
        yield row


def _second_lines(rows: Iterable[JudgementRow]) -> Iterator[bytes]:
    """Answers are a grade, or the reason why the pair can't be judged; empty where none was given."""
    line = line_writer()
    yield line(SECOND_COLUMNS).encode()
    for row in rows:
        first = row.cant_judge if row.grade is None else row.grade
        cells = (row.query_id, row.block_id, row.annotator, first, row.second, row.reason, row.round, row.split)
        yield line([safe_cell(cell) if type(cell) is str else cell for cell in cells]).encode()


def _key(row: JudgementRow) -> tuple[str | int, ...]:
    return row.query_id, row.block_id, row.round, row.annotator, row.pass_number


def _lines(rows: Iterable[Mapping[str, Any]], columns: Iterable[str]) -> Iterator[bytes]:
    line = line_writer()
    yield line(columns).encode()
    for values in rows:
        yield line([safe_cell(cell) if type(cell) is str else cell for cell in values.values()]).encode()


def _values(row: JudgementRow, columns: Collection[str]) -> dict[str, Any]:
    values = dict(zip(COLUMNS, _CELLS(row), strict=True))
    return values | {FACETS: row.facets} if FACETS in columns else values


GRADE_COLUMNS = ("query_id", "query_text", "doc_id", "doc_title", "grade", "split", "notes")


def csv_files(content: Content) -> Iterator[tuple[str, Iterator[bytes]]]:
    yield "csv/judgements.csv", _grade_lines(content)


def _grade_lines(content: Content) -> Iterator[bytes]:
    line = line_writer()
    yield line(GRADE_COLUMNS).encode()
    written = _Notes(content)
    for row in in_order(content.grades(), lambda r: (r.query_id, r.block_id)):
        texts = map(safe_cell, (row.query_id, row.query_text, row.block_id, row.block_title))
        notes = safe_cell("; ".join([_resolved(row), *written.of(row)]))
        yield line((*texts, row.grade, row.split, notes)).encode()


class _Notes:
    """The notes of the judges of each pair, for pairs in their order; none for a reader who may not see answers."""

    def __init__(self, content: Content) -> None:
        answers = content.judgements(noted=True) or ()
        self._pairs = groupby(answers, lambda row: (row.query_id, row.block_id))
        self._next = next(self._pairs, None)

    def of(self, row: GradeRow) -> list[str]:
        """Each wording once, on one line."""
        here = row.query_id, row.block_id
        while self._next is not None:
            there, answers = self._next
            if there > here:
                break
            notes = [" ".join(answer.note.split()) for answer in answers] if there == here else []
            self._next = next(self._pairs, None)
            if there == here:
                return list(dict.fromkeys(note for note in notes if note))
        return []


def _resolved(row: GradeRow) -> str:
    judges = plural(row.judges, "judge")
    return f"{row.resolution.replace('_', ' ')}, {judges}" if row.resolution else judges
