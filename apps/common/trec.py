"""Reading TREC's two file forms, qrels and runs, row by row.

Fields are divided by ASCII white space, as trec_eval divides them; blank lines and lines that begin
with `#` are passed over; gzip is recognised by its first bytes, and `-` is standard input. A file is
never guessed at: what is not clearly a row is refused with file, line, field and value. The readers
stream, but remember the ids of the pairs seen so far, because a pair may stand in a file only once.
"""

from __future__ import annotations

import gzip
import math
import re
import sys
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

from apps.common.errors import InputError

MAX_LINE_BYTES = 64 * 1024
GZIP_MAGIC = b"\x1f\x8b"
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
WHOLE_NUMBER = re.compile(rb"[+-]?[0-9]{1,9}\Z")
ANY_NUMBER = re.compile(rb"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?\Z")
BEIR_HEADING = "the heading of BEIR's form. Leave it out, and put a 0 between query and block in every other line."
CHUNK_BYTES = 1 << 19  # what is made of it still fits a core's cache


class QrelRow(NamedTuple):
    """One line of a qrels file: `query iteration block grade`; the iteration is not kept here."""

    query_id: str
    block_id: str
    grade: int


class RunRow(NamedTuple):
    """One line of a run file: `query Q0 block rank score tag`; what follows the tag is passed over."""

    query_id: str
    block_id: str
    rank: int
    score: float
    tag: str


def read_qrels(path: str | Path) -> Iterator[QrelRow]:
    """The rows of a qrels file in file order.

    Grades are whole numbers and may be negative. Raises InputError for a line without exactly four
    fields, a grade that is not a whole number, and a pair that occurs twice.
    """
    name = name_of(path)
    return parse_qrels(_lines_of(path, name), name)


def read_run(path: str | Path) -> Iterator[RunRow]:
    """The rows of a run file in file order; ranks are kept as written, and nothing is sorted.

    Raises InputError for a line with fewer than six fields, a rank that is not a whole number, a score
    that is not a finite number, and a block that occurs twice for a query.
    """
    name = name_of(path)
    return parse_run(_lines_of(path, name), name)


def parse_qrels(lines: Iterable[bytes], name: str, *, first: int = 1) -> Iterator[QrelRow]:
    """As `read_qrels`, from lines that were opened elsewhere; `name` and line numbers from `first` stand in errors."""
    seen: dict[str, dict[str, int]] = {}
    for number, query_id, _, block_id, grade in _judgements(lines, name, first):
        _once(seen.setdefault(query_id, {}), query_id, block_id, name, number)
        yield QrelRow(query_id, block_id, grade)


class FacetRow(NamedTuple):
    """One line of a qrels file whose second field is a facet of the query, as TREC's diversity tasks have it."""

    query_id: str
    facet: str
    block_id: str
    grade: int


def read_faceted_qrels(path: str | Path) -> Iterator[FacetRow]:
    """The rows of a qrels file with facets, in file order; a pair may stand once for each facet.

    Raises InputError as `read_qrels` does.
    """
    name = name_of(path)
    seen: dict[tuple[str, str], dict[str, int]] = {}
    for number, query_id, iteration, block_id, grade in _judgements(_lines_of(path, name), name):
        facet = _text(iteration, "facet", name, number)
        _once(seen.setdefault((query_id, facet), {}), query_id, block_id, name, number)
        yield FacetRow(query_id, facet, block_id, grade)


def _judgements(lines: Iterable[bytes], name: str, first: int = 1) -> Iterator[tuple[int, str, bytes, str, int]]:
    """Line number, query id, second field, block id and grade of each row."""
    grades: dict[bytes, int] = {}
    for number, line in enumerate(lines, first):
        fields = line.split()
        if not fields or fields[0].startswith(b"#"):
            continue
        if len(fields) != 4:
            if fields[0] == b"query-id":
                raise InputError(name, number, "line", _shown(line), BEIR_HEADING)
            raise _wrong_width(name, number, line, fields, "four: query, iteration, block, grade")
        grade = grades.get(fields[3])
        if grade is None:
            grade = grades[fields[3]] = _grade(fields[3], name, number)
        query_id, block_id = _ids(fields[0], fields[2], name, number)
        yield number, query_id, fields[1], block_id, grade


def parse_run(lines: Iterable[bytes], name: str, *, first: int = 1) -> Iterator[RunRow]:
    """As `read_run`, from lines that were opened elsewhere; `name` and line numbers from `first` stand in errors."""
    seen: dict[str, dict[str, int]] = {}
    for number, line in enumerate(lines, first):
        fields = line.split()
        if not fields or fields[0].startswith(b"#"):
            continue
        if len(fields) < 6:
            raise _wrong_width(name, number, line, fields, "six: query, Q0, block, rank, score, tag")
        if not (fields[3].isdigit() or WHOLE_NUMBER.match(fields[3])):
            raise _refused(name, number, "rank", fields[3], "is not a whole number")
        score = _score(fields[4], name, number)
        query_id, block_id = _ids(fields[0], fields[2], name, number)
        _once(seen.setdefault(query_id, {}), query_id, block_id, name, number)
        yield RunRow(query_id, block_id, int(fields[3]), score, _text(fields[5], "tag", name, number))


def name_of(path: str | Path) -> str:
    """What errors call the file."""
    return "standard input" if str(path) == "-" else str(path)


def _lines_of(path: str | Path, name: str) -> Iterator[bytes]:
    return _lines_of_chunks(chunks_of(path, name), name)


def chunks_of(path: str | Path, name: str) -> Iterator[bytes]:
    if str(path) == "-":
        yield from _chunks_in(sys.stdin.buffer, name)
        return
    try:
        stream = Path(path).open("rb")  # noqa: SIM115 - an error while opening is told apart from the rest
    except OSError as error:
        raise _unreadable(name, error) from error
    with stream:
        yield from _chunks_in(stream, name)


def lines_in(stream: BinaryIO, name: str) -> Iterator[bytes]:
    """The lines of a binary stream, unpacked when it is gzip; no line is longer than 64 KiB."""
    return _lines_of_chunks(_chunks_in(stream, name), name)


def _lines_of_chunks(chunks: Iterable[bytes], name: str) -> Iterator[bytes]:
    done = 0
    for chunk in chunks:
        yield from lines_of_chunk(chunk, name, done)
        done += chunk.count(b"\n")


def lines_of_chunk(chunk: bytes, name: str, done: int) -> Iterator[bytes]:
    """The lines of a chunk that begins after `done` lines of its file."""
    for number, line in enumerate(chunk.removesuffix(b"\n").split(b"\n"), done + 1):
        if len(line) > MAX_LINE_BYTES:
            raise _too_long(name, number, line)
        yield line


def _chunks_in(stream: BinaryIO, name: str) -> Iterator[bytes]:
    """The bytes of a stream, unpacked when it is gzip, cut between lines; an overlong line is cut anywhere."""
    try:
        head = stream.read(len(GZIP_MAGIC))
        rest: BinaryIO | gzip.GzipFile = _Prefixed(head, stream)  # type: ignore[assignment]
        if head == GZIP_MAGIC:
            rest = gzip.GzipFile(fileobj=rest)
        yield from _cut(rest)
    except (OSError, EOFError, zlib.error) as error:
        raise _unreadable(name, error) from error


def _cut(stream: BinaryIO | gzip.GzipFile) -> Iterator[bytes]:
    tail, is_first = b"", True
    while read := stream.read(CHUNK_BYTES):
        data = tail + read
        if is_first and len(data) >= len(BYTE_ORDER_MARK):
            data, is_first = data.removeprefix(BYTE_ORDER_MARK), False
        end = data.rfind(b"\n") + 1
        tail = data[end:]
        if len(tail) > MAX_LINE_BYTES:
            end, tail = len(data), b""
        if end:
            yield data[:end]
    if tail:
        yield tail


class _Prefixed:
    """A stream of which the first bytes were already taken; good enough for gzip, which only reads."""

    def __init__(self, head: bytes, stream: BinaryIO) -> None:
        self.head = head
        self.stream = stream

    def read(self, size: int = -1) -> bytes:
        if not self.head:
            return self.stream.read(size)
        if size < 0:
            taken, self.head = self.head, b""
            return taken + self.stream.read()
        taken, self.head = self.head[:size], self.head[size:]
        return taken


def _grade(field: bytes, name: str, number: int) -> int:
    if WHOLE_NUMBER.match(field):
        return int(field)
    if ANY_NUMBER.match(field):
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
        raise _refused(name, number, what, field, "holds a NUL byte")
    return text


def _once(blocks: dict[str, int], query_id: str, block_id: str, name: str, number: int) -> None:
    first = blocks.setdefault(block_id, number)
    if first != number:
        sentence = f"'{block_id}' stands twice for query '{query_id}', first in line {first}."
        raise InputError(name, number, "block", block_id, sentence)


def _wrong_width(name: str, number: int, line: bytes, fields: list[bytes], wanted: str) -> InputError:
    count = f"{len(fields)} field" + ("" if len(fields) == 1 else "s")
    return InputError(name, number, "line", _shown(line), f"{count} where there must be {wanted}.")


def _refused(name: str, number: int, what: str, field: bytes, why: str) -> InputError:
    return InputError(name, number, what, _shown(field), f"'{_shown(field)}' {why}.")


def _too_long(name: str, number: int, line: bytes) -> InputError:
    return InputError(name, number, "line", _shown(line), f"longer than {MAX_LINE_BYTES // 1024} KiB.")


def _unreadable(name: str, error: Exception) -> InputError:
    reason = getattr(error, "strerror", None) or str(error)
    return InputError(name, None, "", "", f"cannot be read: {reason}.")


def _shown(field: bytes) -> str:
    text = field.decode("utf-8", errors="replace").strip()
    text = "".join(letter if letter.isprintable() else "�" for letter in text[:80])
    return text
