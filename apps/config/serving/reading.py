"""Collects what a client sends until the request is complete. gunicorn's own parser reads its content."""

import io
import re
import tempfile
from typing import Any, BinaryIO

from gunicorn.http.body import ChunkedReader, LengthReader
from gunicorn.http.errors import ChunkMissingTerminator, InvalidChunkSize, LimitRequestHeaders
from gunicorn.http.message import Request
from gunicorn.http.unreader import Unreader

from apps.config.serving.limits import Limits
from apps.config.serving.sending import has_room

END_OF_HEAD = b"\r\n\r\n"
LONGEST_LINE = 8190
LONGEST_TRAILERS = 64 * 1024
PIECE = 64 * 1024
SIZE = re.compile(rb"([0-9a-fA-F]{1,15})[ \t]*(?:;.*)?\r\n")


class TooLarge(Exception):
    """A body beyond the limit, of `most` bytes."""

    def __init__(self, most: int) -> None:
        super().__init__(most)
        self.most = most


class NoRoom(Exception):
    """A body for which the disk has no room."""


class Arrived(Unreader):
    """The bytes received, as a source for gunicorn's parser. It never waits for the client."""

    def __init__(self, spool: Any = None) -> None:
        super().__init__()
        self.spool = spool

    def chunk(self, size_hint: int | None = None) -> bytes:
        return b"" if self.spool is None else self.spool.read(size_hint or PIECE)


class ChunkCounter:
    """Computes the end and the length of a chunked body. gunicorn's reader decodes and validates it."""

    def __init__(self) -> None:
        self.total = 0
        self._line = bytearray()
        self._data_left = 0
        self._expects = self._size
        self._trailers = 0
        self._is_done = False

    def feed(self, data: bytes) -> int | None:
        """The end of the body in `data`, or None when it is incomplete. Raises gunicorn's errors for bad framing."""
        at = 0
        while at < len(data):
            if self._data_left:
                step = min(self._data_left, len(data) - at)
                self._data_left -= step
                at += step
                continue
            end = data.find(b"\n", at) + 1
            self._line += data[at : end or len(data)]
            if len(self._line) > LONGEST_LINE:
                raise InvalidChunkSize(b"line over %d bytes" % LONGEST_LINE)
            if not end:
                return None
            at = end
            line, self._line = bytes(self._line), bytearray()
            self._expects(line)
            if self._is_done:
                return at
        return None

    def _size(self, line: bytes) -> None:
        match = SIZE.fullmatch(line)
        if match is None:
            raise InvalidChunkSize(line[:40])
        self._data_left = int(match[1], 16)
        self.total += self._data_left
        self._expects = self._end_of_data if self._data_left else self._trailer

    def _end_of_data(self, line: bytes) -> None:
        if line != b"\r\n":
            raise ChunkMissingTerminator(line[:2])
        self._expects = self._size

    def _trailer(self, line: bytes) -> None:
        self._trailers += len(line)
        if self._trailers > LONGEST_TRAILERS:
            raise LimitRequestHeaders("limit request trailer section size")
        self._is_done = line == b"\r\n"


class Head:
    """The request line and headers, collected as they arrive."""

    def __init__(self) -> None:
        self.data = bytearray()
        self.searched = 0

    def feed(self, data: bytes) -> bool:
        """True when the head is complete."""
        self.data += data
        start = max(self.searched - 3, 2 if self.data[:2] == b"\r\n" else 0)  # one empty line may come first
        is_complete = self.data.find(END_OF_HEAD, start) >= 0
        self.searched = len(self.data)
        return is_complete


class Body:
    """The body of a request, collected before a thread is given to it: a little in memory, more in a file."""

    def __init__(self, request: Request, limits: Limits) -> None:
        self.request = request
        self.limits = limits
        self.spool: BinaryIO = io.BytesIO()
        self.received = 0
        reader = request.body.reader
        self.counter = ChunkCounter() if isinstance(reader, ChunkedReader) else None
        self.missing = reader.length if isinstance(reader, LengthReader) else 0
        self.most = limits.body_bytes(request.path)
        if self.missing > self.most:
            raise TooLarge(self.most)

    def feed(self, data: bytes) -> bytes | None:
        """Take the bytes that belong to the body. Returns those after its end, or None while it is incomplete.

        Raises TooLarge, NoRoom, and gunicorn's errors for a chunked body that breaks its own rules.
        """
        if self.counter is None:
            end = self.missing if len(data) >= self.missing else None
            self.missing -= len(data) if end is None else end
        else:
            end = self.counter.feed(data)
            if self.counter.total > self.most:
                raise TooLarge(self.most)
        self._write(data[:end])
        return None if end is None else data[end:]

    def finish(self) -> None:
        """Give the collected body to gunicorn's reader."""
        self.spool.seek(0)
        source = Arrived(self.spool)
        if self.counter is None:
            self.request.body.reader.unreader = source
            return
        self.request.body.reader = ChunkedReader(self.request, source)
        headers = [(name, value) for name, value in self.request.headers if name != "TRANSFER-ENCODING"]
        self.request.headers = [*headers, ("CONTENT-LENGTH", str(self.counter.total))]

    def close(self) -> None:
        self.spool.close()

    def _write(self, data: bytes) -> None:
        self.received += len(data)
        is_for_disk = self.received > self.limits.memory_bytes
        try:
            if is_for_disk and not has_room(self.limits, len(data)):
                raise NoRoom
            if is_for_disk and isinstance(self.spool, io.BytesIO):
                self._move_to_disk(self.spool)
            self.spool.write(data)
        except OSError as problem:
            raise NoRoom from problem

    def _move_to_disk(self, memory: io.BytesIO) -> None:
        self.spool = tempfile.TemporaryFile(dir=str(self.limits.folder))  # noqa: SIM115  (lives as long as the request)
        self.spool.write(memory.getbuffer())
