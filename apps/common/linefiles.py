"""Files of lines, as bytes: plain, gzipped or from standard input, read in chunks that are cut between lines.

Gzip is recognised by its first bytes, `-` is standard input, and a byte order mark is dropped. Memory is bounded by a
chunk: no line is longer than 64 KiB.
"""

from __future__ import annotations

import gzip
import sys
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

from apps.common.errors import InputError
from apps.common.inputs import shown

MAX_LINE_BYTES = 64 * 1024
GZIP_MAGIC = b"\x1f\x8b"
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
UTF_16_MARKS = (b"\xff\xfe", b"\xfe\xff")
CHUNK_BYTES = 1 << 19  # what is made of it still fits a core's cache


def name_of(path: str | Path) -> str:
    """What errors call the file."""
    return "standard input" if str(path) == "-" else str(path)


def lines_of(path: str | Path, name: str) -> Iterator[bytes]:
    """The lines of a file; `name` is what errors call it. Raises InputError."""
    return lines_of_chunks(chunks_of(path, name), name)


def chunks_of(path: str | Path, name: str) -> Iterator[bytes]:
    """The bytes of a file, cut between lines; an overlong line is cut anywhere. Raises InputError."""
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
    return lines_of_chunks(_chunks_in(stream, name), name)


def lines_of_chunks(chunks: Iterable[bytes], name: str) -> Iterator[bytes]:
    """The lines of a file that was opened as chunks. Raises InputError for one that is too long."""
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
        yield from _cut(rest, name)
    except (OSError, EOFError, zlib.error) as error:
        raise _unreadable(name, error) from error


def _cut(stream: BinaryIO | gzip.GzipFile, name: str) -> Iterator[bytes]:
    tail, is_first = b"", True
    while read := stream.read(CHUNK_BYTES):
        data = tail + read
        if is_first and len(data) >= len(BYTE_ORDER_MARK):
            if data.startswith(UTF_16_MARKS):
                raise InputError(name, 1, "", "", "the file is UTF-16; save it as UTF-8.")
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


def _too_long(name: str, number: int, line: bytes) -> InputError:
    start = shown(line.decode("utf-8", errors="replace").strip())
    return InputError(name, number, "line", start, f"longer than {MAX_LINE_BYTES // 1024} KiB.")


def _unreadable(name: str, error: Exception) -> InputError:
    reason = getattr(error, "strerror", None) or str(error)
    return InputError(name, None, "", "", f"cannot be read: {reason}.")
