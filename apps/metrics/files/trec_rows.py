"""Reads TREC's two file formats, qrels and runs, row by row.

Fields are separated by ASCII white space, as in trec_eval, and their number is exact; lines end in LF or CR LF; blank
lines and lines that begin with `#` are skipped; gzip is recognised by its first bytes, `-` is standard input. Nothing
is guessed: an invalid row is refused with file, line, field and value. The readers stream, but remember the ids of the
pairs so far, because a pair counts only once.

With a list of errors, readers add errors of single lines to it and continue; without one they raise the first.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from apps.common.errors import InputError
from apps.common.files.faults import ErrorList, shown
from apps.common.files.linefiles import BYTE_ORDER_MARK, bare_return, has_bare_return, lines_of, name_of
from apps.common.files.numbers import number_in, whole_in
from apps.common.text.wording import plural

WHOLE_NUMBER = re.compile(rb"[+-]?[0-9]{1,9}\Z")
ANY_NUMBER = re.compile(rb"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?\Z")
RUN_COLUMNS = "six: query, Q0, block, rank, score, tag"
COMMAS = "Columns are separated by spaces or tabs; this line has commas."
NO_FACET = "0"


class QrelRow(NamedTuple):
    """One line of a qrels file, `query iteration block grade`; TREC's diversity tasks have a facet as iteration."""

    query_id: str
    block_id: str
    grade: int
    facet: str = NO_FACET


class JudgedOnce:
    """Tells which rows of judgements count: each pair once, or once for each facet.

    The same grade again is counted in `repeated`; another grade is reported.
    """

    def __init__(self, name: str, errors: ErrorList | None = None) -> None:
        self.name = name
        self.errors = errors
        self.repeated = 0
        self._first: dict[tuple[str, str, str], tuple[int, int]] = {}

    def counts(self, row: QrelRow, line: int) -> bool:
        first, grade = self._first.setdefault((row.query_id, row.block_id, row.facet), (line, row.grade))
        if first == line:
            return True
        if grade == row.grade:
            self.repeated += 1
        else:
            twice = f"'{row.block_id}' appears twice for query '{row.query_id}'"
            sentence = f"{twice}, with grade {row.grade} here and {grade} in line {first}."
            _report(InputError(self.name, line, "block", row.block_id, sentence), self.errors)
        return False

    def facets_of(self, pairs: int) -> int:
        """How many more rows count than there are pairs."""
        return len(self._first) - pairs


class TrecRunRow(NamedTuple):
    """One line of a run file: `query Q0 block rank score tag`."""

    query_id: str
    block_id: str
    rank: int
    score: float
    tag: str


def read_qrel_rows(path: str | Path, errors: ErrorList | None = None) -> Iterator[QrelRow]:
    """The rows of a qrels file in file order.

    Grades are whole numbers, also written as 1.0, and may be negative. Raises InputError for a line without exactly
    four fields, a grade that is not a whole number, and a pair that occurs twice with different grades for one facet;
    with the same grade it counts once.
    """
    name = name_of(path)
    return parse_qrels(lines_of(path, name), name, errors=errors)


def read_run_rows(path: str | Path, errors: ErrorList | None = None) -> Iterator[TrecRunRow]:
    """The rows of a run file in file order; ranks are as written, and nothing is sorted.

    Raises InputError for a line without exactly six fields, a rank that is not a whole number, a score
    that is not a finite number, and a block that occurs twice for a query.
    """
    name = name_of(path)
    return parse_run(lines_of(path, name), name, errors=errors)


def parse_qrels(
    lines: Iterable[bytes],
    name: str,
    *,
    first: int = 1,
    errors: ErrorList | None = None,
    once: JudgedOnce | None = None,
) -> Iterator[QrelRow]:
    """As `read_qrel_rows`, from open lines; `name` and line numbers from `first` are used in errors.

    `once` tells how many rows were repeated.
    """
    once = once or JudgedOnce(name, errors)
    for number, row in judgements_of(lines, name, first, errors):
        if once.counts(row, number):
            yield row


def judgements_of(
    lines: Iterable[bytes], name: str, first: int = 1, errors: ErrorList | None = None
) -> Iterator[tuple[int, QrelRow]]:
    """Each row with its line, also of pairs that were there before."""
    grades: dict[bytes, int] = {}
    for number, line in enumerate(lines, first):
        try:
            fields = _fields(line, name, number)
            if not fields:
                continue
            if len(fields) != 4:
                raise _wrong_width(name, number, line, fields, "four: query, iteration, block, grade")
            grade = grades.get(fields[3])
            if grade is None:
                grade = grades[fields[3]] = _grade(fields[3], name, number)
            query_id, block_id = _ids(fields[0], fields[2], name, number)
            row = QrelRow(query_id, block_id, grade, _text(fields[1], "facet", name, number))
        except InputError as fault:
            _report(fault, errors)
            continue
        yield number, row


def parse_run(
    lines: Iterable[bytes], name: str, *, first: int = 1, errors: ErrorList | None = None
) -> Iterator[TrecRunRow]:
    """As `read_run_rows`, from open lines; `name` and line numbers from `first` are used in errors."""
    seen: dict[str, dict[str, int]] = {}
    for number, line in enumerate(lines, first):
        try:
            fields = _fields(line, name, number)
            if not fields:
                continue
            row = _run_row(fields, line, name, number)
        except InputError as fault:
            _report(fault, errors)
            continue
        if _is_first(seen.setdefault(row.query_id, {}), row.query_id, row.block_id, name, number, errors):
            yield row


def _fields(line: bytes, name: str, number: int) -> list[bytes]:
    """The fields of a line; empty for a blank line and a comment."""
    if has_bare_return(line):
        raise bare_return(name, number, line)
    fields = line.split()
    return [] if fields and fields[0].startswith(b"#") else fields


def _run_row(fields: list[bytes], line: bytes, name: str, number: int) -> TrecRunRow:
    if len(fields) != 6:
        raise _wrong_width(name, number, line, fields, RUN_COLUMNS)
    if not (fields[3].isdigit() or WHOLE_NUMBER.match(fields[3])):
        if fields[3].endswith(b","):
            raise InputError(name, number, "line", _shown(line), COMMAS)
        raise _refused(name, number, "rank", fields[3], "is not a whole number")
    score = _score(fields[4], name, number)
    query_id, block_id = _ids(fields[0], fields[2], name, number)
    return TrecRunRow(query_id, block_id, int(fields[3]), score, _text(fields[5], "tag", name, number))


def _report(fault: InputError, errors: ErrorList | None) -> None:
    if errors is None:
        raise fault
    errors.add(fault)


def _grade(field: bytes, name: str, number: int) -> int:
    grade = whole_in(field.decode("utf-8", errors="replace"))
    if grade is not None:
        return grade
    if number_in(field.decode("utf-8", errors="replace")) is not None:
        raise _refused(name, number, "grade", field, "is not a whole number; grades are whole, such as 0, 1, 2 or 3")
    raise _refused(name, number, "grade", field, "is not a number")


def _score(field: bytes, name: str, number: int) -> float:
    if not field.isdigit() and not ANY_NUMBER.match(field):
        finite = field.lower().lstrip(b"+-") not in {b"nan", b"inf", b"infinity"}
        raise _refused(name, number, "score", field, "is not a number" if finite else "is not a finite number")
    score = float(field)
    if not math.isfinite(score):
        raise _refused(name, number, "score", field, "is too large to be a finite number")
    return score


def _ids(query: bytes, block: bytes, name: str, number: int) -> tuple[str, str]:
    return _text(query, "query", name, number), _text(block, "block", name, number)


def _text(field: bytes, what: str, name: str, number: int) -> str:
    try:
        text = field.decode("utf-8")
    except UnicodeDecodeError:
        raise _refused(name, number, what, field, "is not UTF-8 text") from None
    if "\x00" in text:
        raise _refused(name, number, what, field, "contains a NUL byte")
    if field.startswith(BYTE_ORDER_MARK):
        raise _refused(name, number, what, field, "begins with a byte order mark, as where two files were joined")
    return text


def _is_first(
    blocks: dict[str, int], query_id: str, block_id: str, name: str, number: int, errors: ErrorList | None
) -> bool:
    """Whether the pair appears for the first time; otherwise the error is reported."""
    first = blocks.setdefault(block_id, number)
    if first != number:
        sentence = f"'{block_id}' appears twice for query '{query_id}', first in line {first}."
        _report(InputError(name, number, "block", block_id, sentence), errors)
    return first == number


def _wrong_width(name: str, number: int, line: bytes, fields: list[bytes], wanted: str) -> InputError:
    count = plural(len(fields), "field")
    hint = f" {COMMAS}" if len(fields) == 1 and b"," in line else ""
    return InputError(name, number, "line", _shown(line), f"{count} where there must be {wanted}.{hint}")


def _refused(name: str, number: int, what: str, field: bytes, why: str) -> InputError:
    return InputError(name, number, what, _shown(field), f"'{_shown(field)}' {why}.")


def _shown(field: bytes) -> str:
    return shown(field.decode("utf-8", errors="replace").strip())
