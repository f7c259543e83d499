"""Reads files of lines as bytes, and their extent: plain, gzipped or from standard input, in chunks cut between lines.

Gzip and UTF-16 are recognised by their first bytes, `-` is standard input, and a byte order mark is dropped. Memory is
bounded by a chunk: no line is longer than 64 KiB.
"""

from __future__ import annotations

import codecs
import gzip
import sys
import zlib
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import BinaryIO, NamedTuple

from apps.common.errors import InputError
from apps.common.files.faults import shown
from apps.common.files.filekinds import HEAD_BYTES, marked_encoding, not_text

PIECE = 64 * 1024


class Extent(NamedTuple):
    """Number of bytes (uncompressed, if the file is gzip) and of line ends among them."""

    size: int
    lines: int


def is_within(path: Path, most: Extent) -> bool:
    """Whether a file, plain or gzip, contains no more than `most`. Unpacks at most `most.size` bytes and one chunk.

    The size stored in a gzip file cannot be trusted. A damaged file counts as small: its reader reports the damage.
    """
    if path.stat().st_size > most.size:
        return False
    size = lines = 0
    with path.open("rb") as raw:
        is_gzip = raw.read(len(GZIP_MAGIC)) == GZIP_MAGIC
        raw.seek(0)
        stream = gzip.GzipFile(fileobj=raw) if is_gzip else raw
        try:
            while piece := stream.read(PIECE):
                size += len(piece)
                lines += max(piece.count(b"\n"), piece.count(b"\r"))  # either may end a line
                if size > most.size or lines > most.lines:
                    return False
        except (OSError, EOFError, zlib.error):
            return True
    return True


MAX_LINE_BYTES = 64 * 1024
GZIP_MAGIC = b"\x1f\x8b"
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
STANDARD_INPUT = "standard input"
LINE_END = "line end"
"""The field name of errors about line ends."""
BARE_RETURN = (
    "the line contains a carriage return (CR). Lines end in LF or CR LF; save a file whose lines end in CR alone "
    "with one of those."
)
HALF_WIDE = "the file is damaged: it begins as UTF-16 and does not go on so"
CHUNK_BYTES = 1 << 19  # what is parsed from it still fits a core's cache

# Limits for a file from somebody else: how far gzip may grow, and how many lines may be empty
GZIP_RATIO = 200
GZIP_FLOOR = 5_000_000
UNPACKED_BYTES = 20_000_000_000
BLANK_LINES = 100_000


def name_of(path: str | Path) -> str:
    """The name of the file in error messages."""
    return STANDARD_INPUT if str(path) == "-" else str(path)


def lines_of(path: str | Path, name: str) -> Iterator[bytes]:
    """The lines of a file; `name` is its name in errors. Raises InputError."""
    return lines_of_chunks(chunks_of(path, name), name)


def chunks_of(path: str | Path, name: str) -> Iterator[bytes]:
    """The bytes of a file, cut between lines; an overlong line is cut anywhere. Raises InputError."""
    if str(path) == "-":
        yield from _chunks_in(_Opened(sys.stdin.buffer), name)
        return
    try:
        stream = Path(path).open("rb")  # noqa: SIM115 - errors of opening and of reading are different
    except OSError as error:
        raise _unreadable(name, error) from error
    with stream:
        yield from _chunks_in(_Opened(stream), name)


def lines_in(stream: BinaryIO, name: str) -> Iterator[bytes]:
    """The lines of a binary stream, unpacked when it is gzip; no line is longer than 64 KiB. Raises InputError.

    For files that people upload: the limits above apply.
    """
    done = blank = 0
    for chunk in _capped(stream, name):
        for line in lines_of_chunk(chunk, name, done):
            blank += not line or line.isspace()
            if blank > BLANK_LINES:
                message = f"more than {BLANK_LINES:,} lines are empty; leave them out."
                raise InputError(name, None, "", "", message)
            yield line
        done += chunk.count(b"\n")


def _capped(stream: BinaryIO, name: str) -> Iterator[bytes]:
    """The chunks of a stream; rejects gzip that unpacks to more than is allowed."""
    opened, grown = _Opened(stream), 0
    for chunk in _chunks_in(opened, name):
        grown += len(chunk)
        if grown > UNPACKED_BYTES:
            raise InputError(name, None, "", "", f"unpacks to more than {UNPACKED_BYTES:,} bytes; split it.")
        if grown > max(GZIP_FLOOR, GZIP_RATIO * opened.taken):
            message = f"the gzip file unpacks to more than {GZIP_RATIO} times its size; unpack it first."
            raise InputError(name, None, "", "", message)
        yield chunk


def lines_of_chunks(chunks: Iterable[bytes], name: str) -> Iterator[bytes]:
    """The lines of a file that is read as chunks. Raises InputError for a line that is too long."""
    done = 0
    for chunk in chunks:
        yield from lines_of_chunk(chunk, name, done)
        done += chunk.count(b"\n")


def lines_of_chunk(chunk: bytes, name: str, done: int) -> Iterator[bytes]:
    """The lines of a chunk that begins after `done` lines of its file."""
    for number, line in enumerate(chunk.removesuffix(b"\n").split(b"\n"), done + 1):
        if len(line) > MAX_LINE_BYTES:
            raise bare_return(name, number, line) if has_bare_return(line) else _too_long(name, number, line)
        yield line


def has_bare_return(line: bytes) -> bool:
    """Whether a line contains a carriage return, where some programs end a line: the rest would be misread."""
    return b"\r" in line and b"\r" in line.strip()


def bare_return(name: str, number: int, line: bytes) -> InputError:
    return InputError(name, number, LINE_END, shown(line.decode("utf-8", errors="replace").strip()), BARE_RETURN)


def _chunks_in(opened: _Opened, name: str) -> Iterator[bytes]:
    """The bytes of a stream, unpacked when it is gzip, cut between lines; an overlong line is cut anywhere."""
    try:
        unpacked = gzip.GzipFile(fileobj=opened) if opened.is_gzip() else opened  # type: ignore[call-overload]
        yield from _cut(unpacked, name)
    except (OSError, EOFError, zlib.error) as error:
        raise _unreadable(name, error) from error
    except UnicodeDecodeError as error:
        raise InputError(name, None, "", "", f"{HALF_WIDE}.") from error


def _cut(stream: _Opened | gzip.GzipFile, name: str) -> Iterator[bytes]:
    tail = b""
    for place, piece in enumerate(_pieces(stream)):
        if place == 0:
            if reason := not_text(piece):
                raise InputError(name, None, "", "", f"{reason}.")
            piece = piece.removeprefix(BYTE_ORDER_MARK)
        end = piece.rfind(b"\n") + 1
        if end:
            yield b"".join((tail, memoryview(piece)[:end]))  # copies the lines once
            tail = piece[end:]
        else:
            tail += piece
        if len(tail) > MAX_LINE_BYTES:
            yield tail
            tail = b""
    if tail:
        yield tail


def _pieces(stream: _Opened | gzip.GzipFile) -> Iterator[bytes]:
    """The bytes of a stream, in UTF-8 where it is text in UTF-16.

    The first piece is long enough to detect the file type, even from a slow pipe.
    """
    first = b""
    while len(first) < HEAD_BYTES and (read := stream.read(CHUNK_BYTES)):
        first += read
    pieces = chain([first] if first else [], iter(lambda: stream.read(CHUNK_BYTES), b""))
    if (encoding := marked_encoding(first)).startswith("utf-16"):
        yield from (text.encode() for text in codecs.iterdecode(pieces, encoding))
    else:
        yield from pieces


class _Opened:
    """A stream that tells by its first bytes whether it is gzip, and counts the bytes taken from it."""

    def __init__(self, stream: BinaryIO) -> None:
        self.stream = stream
        self.head = b""
        self.taken = 0

    def is_gzip(self) -> bool:
        """To be asked once, before anything is read."""
        self.head = self.stream.read(len(GZIP_MAGIC))
        return self.head == GZIP_MAGIC

    def read(self, size: int = -1) -> bytes:
        """No more than `size` bytes, and some unless the stream is at its end: enough for gzip, which only reads."""
        chunk, self.head = self.head or self.stream.read(size), b""
        self.taken += len(chunk)
        return chunk


def _too_long(name: str, number: int, line: bytes) -> InputError:
    start = shown(line.decode("utf-8", errors="replace").strip())
    return InputError(name, number, "line", start, f"longer than {MAX_LINE_BYTES // 1024} KiB.")


def _unreadable(name: str, error: Exception) -> InputError:
    reason = getattr(error, "strerror", None) or str(error)
    return InputError(name, None, "", "", f"cannot be read: {reason}.")
