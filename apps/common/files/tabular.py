"""Reading of lines, CSV, TSV and JSONL from imported files: streamed, capped, and without guessing.

Text is UTF-8, with or without a byte order mark, unless the source has another encoding; anything else is refused with
its line. Memory stays bounded by one record whatever the file contains: lines, columns, nesting and the growth of gzip
are capped. A mistake in one row is added to the error list and reading continues; one that spoils the rest is raised.
"""

import csv
import gzip
import io
import zlib
from collections.abc import Generator, Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, BinaryIO, NamedTuple, cast

from apps.common.errors import InputError
from apps.common.files.csvsafe import restore_cell
from apps.common.files.faults import ErrorList, fault
from apps.common.files.field_names import SameMeaning, meant, plain_name
from apps.common.files.filekinds import not_text
from apps.common.files.jsonvalues import parse_object
from apps.common.files.linefiles import (
    BARE_RETURN,
    BLANK_LINES,
    BYTE_ORDER_MARK,
    GZIP_FLOOR,
    GZIP_MAGIC,
    GZIP_RATIO,
    LINE_END,
    UNPACKED_BYTES,
)

MEGABYTE = 1_000_000
BLOCK_BYTES = 256 * 1024
HEAD_BYTES = 64 * 1024


class Caps(NamedTuple):
    """Limits for one file."""

    line_bytes: int = 5 * MEGABYTE
    columns: int = 1_000
    nesting: int = 64
    gzip_ratio: int = GZIP_RATIO
    gzip_floor: int = GZIP_FLOOR
    unpacked_bytes: int = UNPACKED_BYTES
    blank_lines: int = BLANK_LINES


CAPS = Caps()
csv.field_size_limit(CAPS.line_bytes)


class TableFile:
    """A file to read: the name shown in errors, its bytes, and its caps.

    Gzip is recognised by its first bytes. The stream must be seekable and at its beginning. `encoding` is that of the
    text; one whose line ends are not the byte of a line feed is recoded first. `path` is the file on disk, for readers
    of what is no table. Where `ends_in_return` is set, a carriage return ends a line.
    """

    def __init__(self, name: str, stream: BinaryIO, caps: Caps = CAPS, *, path: Path | None = None) -> None:
        self.name = name
        self.path = path
        self.caps = caps
        self.encoding = "utf-8"
        self.ends_in_return = False
        self._raw = stream
        self.is_gzip = stream.read(len(GZIP_MAGIC)) == GZIP_MAGIC
        self._stream = stream
        self.rewind()

    def rewind(self) -> None:
        """Go back to the beginning."""
        self._raw.seek(0)
        self._blank = 0
        self._stream = gzip.GzipFile(fileobj=self._raw) if self.is_gzip else self._raw  # type: ignore[assignment]
        if self.ends_in_return:
            self._stream = io.BufferedReader(_LineFeeds(self._stream))

    def raw(self) -> BinaryIO:
        """Its bytes as they are on disk, packed or not, from the beginning. Rewind it before it is read on."""
        self._raw.seek(0)
        return self._raw

    def error(self, line: int | None, field: str, value: object, message: str) -> InputError:
        return fault(self.name, line, field, value, message)

    def read_line(self, number: int) -> bytes:
        """The next line with its ending, or b"" at the end of the file."""
        limit = self.caps.line_bytes
        try:
            raw = self._stream.readline(limit + 1)
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise self.error(number, "", "", "the gzip file is damaged or cut off") from error
        if len(raw) > limit:
            raise self.error(number, "", "", f"the line is longer than {limit:,} bytes")
        if raw and raw.isspace():
            self._refuse_blanks(number)
        if self.is_gzip:
            self._refuse_bomb(number)
        return raw

    def blocks(self, most: int | None = None) -> Generator[bytes]:
        """The whole content in blocks, unpacked, from the beginning; rejects content of more than `most` bytes."""
        self.rewind()
        done = 0
        try:
            while block := self._stream.read(BLOCK_BYTES):
                done += len(block)
                if most is not None and done > most:
                    raise self.error(None, "", "", f"the file is larger than {most:,} bytes")
                if self.is_gzip:
                    self._refuse_bomb(None)
                yield block
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise self.error(None, "", "", "the gzip file is damaged or cut off") from error
        finally:
            self.rewind()

    def head(self, size: int) -> bytes:
        """The first bytes, unpacked. The source is at its beginning, before and after."""
        head = b""
        with closing(self.blocks()) as blocks:
            for block in blocks:
                head += block
                if len(head) >= size:
                    break
        return head[:size]

    @contextmanager
    def seekable(self, most: int) -> Iterator[BinaryIO]:
        """The whole content, unpacked, as a stream that can be read from any place; rejects more than `most` bytes."""
        if not self.is_gzip:
            self.rewind()
            yield self._raw
        else:
            with TemporaryFile() as copy:
                for block in self.blocks(most):
                    copy.write(block)
                copy.seek(0)
                yield cast(BinaryIO, copy)
        self.rewind()

    def find_line_ends(self) -> None:
        """Let a carriage return end a line where the beginning of the file has some, and no line feed."""
        head = self.head(HEAD_BYTES)
        self.ends_in_return = b"\r" in head.rstrip() and b"\n" not in head
        self.rewind()

    def _refuse_blanks(self, number: int) -> None:
        self._blank += 1
        if self._blank > self.caps.blank_lines:
            message = f"the file has more than {self.caps.blank_lines:,} empty lines; leave them out"
            raise self.error(number, "", "", message)

    def _refuse_bomb(self, number: int | None) -> None:
        grown = self._stream.tell()
        if grown > self.caps.unpacked_bytes:
            message = f"the gzip file unpacks to more than {self.caps.unpacked_bytes:,} bytes; split it"
            raise self.error(number, "", "", message)
        if grown > self.caps.gzip_floor and grown > self.caps.gzip_ratio * max(self._raw.tell(), 1):
            times = f"more than {self.caps.gzip_ratio} times its size"
            raise self.error(number, "", "", f"the gzip file unpacks to {times}; unpack it first")


class _LineFeeds(io.RawIOBase):
    """A stream with a line feed for each carriage return."""

    def __init__(self, stream: BinaryIO) -> None:
        self._inner = stream

    def readable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._inner.tell()

    def readinto(self, buffer: Any) -> int:
        data = self._inner.read(len(buffer)).replace(b"\r", b"\n")
        buffer[: len(data)] = data
        return len(data)


@contextmanager
def open_source(path: Path | str, *, name: str | None = None) -> Iterator[TableFile]:
    """Open a file on disk for the readers. `name` is shown in errors, by default the file name."""
    path = Path(path)
    try:
        stream = path.open("rb")
    except OSError as error:
        reason = error.strerror or "cannot be read"
        raise fault(name or path.name, None, "", "", f"the file cannot be opened: {reason}") from error
    with stream:
        yield TableFile(name or path.name, stream, path=path)


def read_lines(source: TableFile) -> Iterator[tuple[int, str]]:
    """(line number, text without its ending), from line 1. The byte order mark is dropped.

    Raises InputError for a carriage return inside a line: some programs end one there.
    """
    for number, text in _decoded(source):
        line = text.rstrip("\r\n")
        if "\r" in line.lstrip("\r"):
            raise source.error(number, LINE_END, line, BARE_RETURN)
        yield number, line


def read_jsonl(source: TableFile, errors: ErrorList) -> Iterator[tuple[int, dict]]:
    """(line number, object), one object a line. Blank lines are skipped."""
    for number, line in read_lines(source):
        if not line.strip():
            continue
        try:
            yield number, parse_object(line, source.caps.nesting)
        except ValueError as error:
            errors.add(source.error(number, "", line, str(error)))


def read_csv(
    source: TableFile,
    errors: ErrorList,
    *,
    required: Iterable[str | tuple[str, ...]],
    known: Iterable[str] | None = None,
    delimiter: str = ",",
) -> Iterator[tuple[int, dict[str, str]]]:
    """(line the record starts on, cells by column). The first line names the columns; one without a name is left out.

    A required column with several accepted names is a tuple of them; the one that is meant is the key in the rows, as
    the tuple spells it. Raises InputError for a missing, doubled or (when `known` is given) unknown column: the whole
    file would be misread. Cells that were made formula-safe on export are restored.
    """
    header: list[str] | None = None
    first: list[str] = []
    for line, cells in read_rows(source, delimiter=delimiter):
        if header is None:
            header = _checked_header(source, line, cells, required, known)
            kept = [place for place, name in enumerate(header) if name]
            is_whole, first = len(kept) == len(header), cells
        elif cells == first:
            errors.warn(source.error(line, "", cells[0], "the row repeats the headings and is not read"))
        elif len(cells) != len(header):
            message = f"the row has {len(cells)} cells, the header has {len(header)}"
            errors.add(source.error(line, "", cells[0], message))
        elif is_whole:
            yield line, dict(zip(header, map(restore_cell, cells), strict=True))
        else:
            yield line, {header[place]: restore_cell(cells[place]) for place in kept}
    if header is None:
        raise source.error(None, "", "", "the file is empty; its first line must name the columns")


def read_rows(source: TableFile, *, delimiter: str = ",", quote: str = '"') -> Iterator[tuple[int, list[str]]]:
    """(line the record starts on, its cells unchanged), header included. Blank lines are skipped."""
    feed = _RecordFeed(source)
    rows = csv.reader(feed, delimiter=delimiter, quotechar=quote, strict=True)
    while True:
        feed.start_record()
        try:
            cells = next(rows)
        except StopIteration:
            return
        except csv.Error as error:
            if "new-line character" in str(error):
                raise source.error(feed.first, LINE_END, "", BARE_RETURN) from error
            raise source.error(feed.first, "", "", f"the quoting is broken here: {error}") from error
        if cells:
            yield feed.first, cells


def _decoded(source: TableFile) -> Iterator[tuple[int, str]]:
    number = 0
    if not source.ends_in_return:
        source.find_line_ends()
    while raw := source.read_line(number + 1):
        number += 1
        if number == 1:
            raw = _without_mark(source, raw)
        try:
            text = raw.decode(source.encoding)
        except UnicodeDecodeError as error:
            bad = raw[error.start : error.start + 1].hex()
            name = source.encoding.upper()
            message = f"byte {error.start + 1} (0x{bad}) is not {name}; save the file as UTF-8"
            raise source.error(number, "", "", message) from error
        if "\0" in text:
            raise source.error(number, "", "", "the line contains a NUL character; this is not a text file")
        yield number, text


def _without_mark(source: TableFile, raw: bytes) -> bytes:
    if reason := not_text(raw):
        raise source.error(None, "", "", reason)
    return raw.removeprefix(BYTE_ORDER_MARK)


class _RecordFeed:
    """Feeds lines to csv.reader, and limits the length of a record that never closes its quote."""

    def __init__(self, source: TableFile) -> None:
        self._source = source
        self._lines = _decoded(source)
        self._size = 0
        self._last = 0
        self.first = 1

    def start_record(self) -> None:
        self.first = self._last + 1
        self._size = 0

    def __iter__(self) -> "_RecordFeed":
        return self

    def __next__(self) -> str:
        self._last, text = next(self._lines)
        self._size += len(text)
        if self._size > self._source.caps.line_bytes:
            message = "the record does not end; a quote that was opened here is not closed"
            raise self._source.error(self.first, "", "", message)
        return text


def _checked_header(
    source: TableFile,
    line: int,
    cells: list[str],
    required: Iterable[str | tuple[str, ...]],
    known: Iterable[str] | None,
) -> list[str]:
    header = [cell.strip() for cell in cells]
    if len(header) > source.caps.columns:
        raise source.error(line, "", "", f"the file has more than {source.caps.columns:,} columns")
    doubled = [name for place, name in enumerate(header) if name and name in header[:place]]
    if doubled:
        raise source.error(line, doubled[0], "", "two columns have this name")
    asked = [(name,) if isinstance(name, str) else name for name in required]
    header = _with_meant(source, line, header, [names for names in asked if len(names) > 1])
    _refuse_missing(source, line, header, asked)
    if known is not None:
        names = list(known)
        unknown = [name for name in header if name not in names]
        if unknown:
            raise source.error(line, unknown[0], "", f"unknown column; known are {', '.join(names)}")
    return header


def _with_meant(source: TableFile, line: int, header: list[str], asked: Iterable[tuple[str, ...]]) -> list[str]:
    """The header with the column that is meant for each of these as they spell it, and none beside it."""
    for names in asked:
        try:
            own = meant(names, header)
        except SameMeaning as reason:
            raise source.error(line, reason.second, "", str(reason)) from reason
        if own is not None:
            beside = {name for name in header if name != own and plain_name(name) in names}
            header = ["" if name in beside else plain_name(name) if name == own else name for name in header]
    return header


def _refuse_missing(source: TableFile, line: int, header: list[str], required: list[tuple[str, ...]]) -> None:
    """Raise one InputError that names every missing column, the accepted names, and the file's header."""
    missing = [names for names in required if not set(names) & set(header)]
    if not missing:
        return
    message = "this column is missing" if len(missing) == 1 else "these columns are missing"
    for names in missing:
        message += f"; looked for {', '.join(names)}" if len(names) > 1 else ""
    message += f"; the file has {', '.join(filter(None, header))[:200]}"
    raise source.error(line, ", ".join(names[0] for names in missing), "", message)
