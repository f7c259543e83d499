"""Judgements as tables that a spreadsheet opens as they are, and that imports read back.

One row for each judged pair, in three layouts. `files`: every single answer, as CSV and as Parquet, people by
pseudonym, with grade, times, note, guideline and round. `karat agree` reads both by their headings: an item is a query
with a block. Where judges settled differences, what they answered after seeing each other's grades is a table of its
own.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from itertools import chain, groupby
from operator import attrgetter
from typing import Any

from apps.common.files.csvsafe import csv_lines, plain_csv_lines
from apps.common.text.wording import plural
from apps.goldsets.formats.content import Content, GradeRow, JudgementRow, in_order
from apps.goldsets.formats.parquet_files import TEXT, WHOLE, SecondFile
from apps.goldsets.formats.workbooks import workbooks

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
    rows = packed.passing(_values(row, columns) for row in _with_second(in_order(answers, _key), second))
    yield "judgements/judgements.csv", _plain_lines(columns, (row.values() for row in rows))
    yield "judgements/judgements.parquet", packed.pieces()
    if second:
        yield "judgements/reconciled.csv", _plain_lines(SECOND_COLUMNS, map(_second_cells, second))


SECOND_COLUMNS = ("query_id", "block_id", "annotator", "first_grade", "second_grade", "reason", "round", "split")


def _with_second(rows: Iterable[JudgementRow], second: list[JudgementRow]) -> Iterator[JudgementRow]:
    """The same rows; those whose judge was asked for a second answer, which are few, are also put into `second`."""
    for row in rows:
        if row.second is not None:
            second.append(row)
        yield row


def _second_cells(row: JudgementRow) -> Iterable[object]:
    """Answers are a grade, or the reason why the pair can't be judged; empty where none was given."""
    first = row.cant_judge if row.grade is None else row.grade
    return row.query_id, row.block_id, row.annotator, first, row.second, row.reason, row.round, row.split


def _key(row: JudgementRow) -> tuple[str | int, ...]:
    return row.query_id, row.block_id, row.round, row.annotator, row.pass_number


def _lines(columns: Iterable[str], rows: Iterable[Iterable[object]]) -> Iterator[bytes]:
    return (line.encode() for line in csv_lines(chain([columns], rows)))


def _plain_lines(columns: Iterable[str], rows: Iterable[Iterable[object]]) -> Iterator[bytes]:
    """Of files that versions have had from the first: a version keeps their bytes, and a workbook is beside them."""
    return (line.encode() for line in plain_csv_lines(chain([columns], rows)))


def _values(row: JudgementRow, columns: Collection[str]) -> dict[str, Any]:
    values = dict(zip(COLUMNS, _CELLS(row), strict=True))
    return values | {FACETS: row.facets} if FACETS in columns else values


Table = Iterator[tuple[str, Iterator[bytes]]]
SHORT, LONG = 16, 50
WIDTHS = {"query_text": LONG, "doc_title": LONG, "notes": LONG}
"""Of columns of a workbook, in letters; others are short."""
FLAT = ("query_id", "query_text", "doc_id", "doc_title", "grade", "split", "notes")
NOTED = ("query_id", "query_text", "doc_id", "doc_title", "grade", "notes")
RELEVANCE = {"query_id": TEXT, "query_text": TEXT, "doc_id": TEXT, "relevance": WHOLE, "split": TEXT}


def csv_files(content: Content) -> Table:
    yield "csv/judgements.csv", _plain_lines(FLAT, _flat(content))


def xlsx_files(content: Content) -> Table:
    return workbooks("xlsx/judgements", _widths(FLAT), _flat(content))


def relevance_files(content: Content) -> Table:
    packed = SecondFile(RELEVANCE)
    rows = packed.passing(dict(zip(RELEVANCE, cells, strict=True)) for cells in map(_relevance, _graded(content)))
    yield "relevance/judgements.csv", _lines(RELEVANCE, (row.values() for row in rows))
    yield "relevance/judgements.parquet", packed.pieces()


def noted_files(content: Content) -> Table:
    yield "notes/judgements.csv", _lines(NOTED, _noted(content))
    yield from workbooks("notes/judgements", _widths(NOTED), _noted(content))


def _widths(columns: Iterable[str]) -> dict[str, int]:
    return {name: WIDTHS.get(name, SHORT) for name in columns}


def _graded(content: Content) -> Iterator[GradeRow]:
    return in_order(content.grades(), lambda row: (row.query_id, row.block_id))


def _relevance(row: GradeRow) -> tuple[str, str, str, int, str]:
    return row.query_id, row.query_text, row.block_id, row.grade, row.split


def _flat(content: Content) -> Iterator[tuple[str | int, ...]]:
    """Each pair with how its grade came about, and what its judges noted: each wording once, on one line."""
    for row, answers in _with_notes(content):
        wordings = dict.fromkeys(" ".join(answer.note.split()) for answer in answers)
        notes = "; ".join([resolved(row), *filter(None, wordings)])
        yield row.query_id, row.query_text, row.block_id, row.block_title, row.grade, row.split, notes


def _noted(content: Content) -> Iterator[tuple[str | int, ...]]:
    """Each pair with what its judges noted, as they wrote it; where they wrote different things, who wrote which."""
    for row, answers in _with_notes(content):
        wordings = dict.fromkeys(answer.note for answer in answers)
        named = dict.fromkeys(f"{answer.annotator}: {answer.note}" for answer in answers)
        notes = "\n".join(named if len(wordings) > 1 else wordings)
        yield row.query_id, row.query_text, row.block_id, row.block_title, row.grade, notes


def _with_notes(content: Content) -> Iterator[tuple[GradeRow, list[JudgementRow]]]:
    """Each pair with the answers on it that have a note; none for a reader who may not see answers."""
    pairs = groupby(content.judgements(noted=True) or (), lambda row: (row.query_id, row.block_id))
    ahead = next(pairs, None)
    for row in _graded(content):
        here, answers = (row.query_id, row.block_id), list[JudgementRow]()
        while ahead is not None and ahead[0] <= here:
            if ahead[0] == here:
                answers = list(ahead[1])
            ahead = next(pairs, None)
        yield row, answers


def resolved(row: GradeRow) -> str:
    judges = plural(row.judges, "judge")
    return f"{row.resolution.replace('_', ' ')}, {judges}" if row.resolution else judges
