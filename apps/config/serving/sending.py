"""Buffers answers, so that the event loop waits for slow readers and not the thread that answered."""

import errno
import os
import select
import shutil
import socket
import tempfile
import time
from collections import deque
from contextlib import suppress
from typing import Any, BinaryIO

from apps.config.serving.limits import Limits

AT_ONCE = 1024 * 1024
SMALL = 16 * 1024
"""What is shorter waits for what comes next: the head of an answer goes out with its body."""


class Buffer:
    """Bytes in memory to send."""

    def __init__(self, data: bytes | memoryview) -> None:
        self.rest = memoryview(data)

    @property
    def left(self) -> int:
        return len(self.rest)

    def send(self, sock: socket.socket) -> int:
        sent = sock.send(self.rest[:AT_ONCE])
        self.rest = self.rest[sent:]
        return sent

    def close(self) -> None:
        self.rest.release()


class Range:
    """A part of a file to send, with its own file handle: the answer may close the file."""

    def __init__(self, fileno: int, offset: int, left: int) -> None:
        self.fileno = os.dup(fileno)
        self.offset = offset
        self.left = left

    def send(self, sock: socket.socket) -> int:
        sent = os.sendfile(sock.fileno(), self.fileno, self.offset, min(self.left, AT_ONCE))
        if sent == 0:
            raise OSError(errno.EIO, "The file became shorter while it was sent.")
        self.offset += sent
        self.left -= sent
        return sent

    def close(self) -> None:
        os.close(self.fileno)


class Outgoing:
    """The socket as gunicorn's response sees it. Writing sends what the client accepts now and buffers the rest.

    A little is buffered in memory, more in an unnamed file, and a thread waits only for a client who is more than
    `answer_bytes` behind (or when the disk is nearly full). While a request is answered, its thread alone uses this;
    afterwards the event loop does.
    """

    def __init__(self, sock: socket.socket, limits: Limits) -> None:
        self.sock = sock
        self.limits = limits
        self.pieces: deque[Buffer | Range] = deque()
        self.held = b""
        self.in_memory = 0
        self.spool: BinaryIO | None = None
        self.spooled = 0
        self.behind_since = 0.0
        self.sent_since = 0

    @property
    def deadline(self) -> float:
        return self.limits.deadline(self.behind_since, self.sent_since)

    # For gunicorn ---------------------------------------------------------------------------------------

    def sendall(self, data: bytes) -> None:
        data = self.held + data
        self.held = b"" if len(data) > SMALL else data
        if not self.held:
            self._give(data)

    def push(self) -> None:
        """Send what waits for more, at the end of an answer."""
        data, self.held = self.held, b""
        if data:
            self._give(data)

    def _give(self, data: bytes) -> None:
        view = memoryview(data)
        if self.flush():
            view = view[self._send_now(view) :]
        if view:
            self._keep(view)

    def send(self, data: bytes) -> int:
        self.sendall(data)
        return len(data)

    def sendfile(self, file: Any, offset: int = 0, count: int | None = None) -> int:
        if count is None:
            count = os.fstat(file.fileno()).st_size - offset
        self.push()
        if count > 0:
            self._append(Range(file.fileno(), offset, count))
            self.flush()
        return count

    def fileno(self) -> int:
        return self.sock.fileno()

    def gettimeout(self) -> float:
        return 0.0

    def settimeout(self, seconds: float | None) -> None:
        """Writing never blocks."""

    def setblocking(self, flag: bool) -> None:
        """Writing never blocks."""

    def shutdown(self, how: int) -> None:
        raise OSError(errno.ENOTCONN, "The event loop closes the connection.")

    def close(self) -> None:
        """The event loop closes the connection."""

    # For the event loop ---------------------------------------------------------------------------------

    def flush(self) -> bool:
        """Send what the client accepts now. True when nothing is left."""
        while self.pieces:
            piece = self.pieces[0]
            try:
                sent = piece.send(self.sock)
            except (BlockingIOError, InterruptedError):
                return False
            self.sent_since += sent
            if isinstance(piece, Buffer):
                self.in_memory -= sent
            if piece.left == 0:
                self.pieces.popleft().close()
        self._forget_spool()
        return True

    def abandon(self) -> None:
        """Drop everything that is buffered."""
        self.held = b""
        while self.pieces:
            self.pieces.popleft().close()
        self._forget_spool()

    def _send_now(self, view: memoryview) -> int:
        sent = 0
        with suppress(BlockingIOError, InterruptedError):
            while sent < len(view):
                sent += self.sock.send(view[sent : sent + AT_ONCE])
        return sent

    def _append(self, piece: Buffer | Range) -> None:
        if not self.pieces:
            self.behind_since, self.sent_since = time.monotonic(), 0
        self.pieces.append(piece)

    def _keep(self, view: memoryview) -> None:
        if self.in_memory + len(view) <= self.limits.memory_bytes:
            self.in_memory += len(view)
            self._append(Buffer(bytes(view)))
        elif not self._write_to_spool(view):
            self.in_memory += len(view)
            self._append(Buffer(bytes(view)))
            self._wait()

    def _write_to_spool(self, view: memoryview) -> bool:
        """False when there is no room for it: `answer_bytes` are buffered, or the disk is nearly full."""
        if self.spooled + len(view) > self.limits.answer_bytes or not has_room(self.limits, len(view)):
            return False
        try:
            if self.spool is None:
                self.spool = tempfile.TemporaryFile(dir=self.limits.folder)  # noqa: SIM115  (lives as long as the answer)
            self.spool.seek(self.spooled)
            self.spool.write(view)
            self.spool.flush()
        except OSError:
            return False
        self._append(Range(self.spool.fileno(), self.spooled, len(view)))
        self.spooled += len(view)
        return True

    def _wait(self) -> None:
        """Block the thread until the client has caught up. Raises OSError for one slower than the least rate."""
        poll = select.poll()
        poll.register(self.sock.fileno(), select.POLLOUT)
        while not self.flush():
            rest = self.deadline - time.monotonic()
            if rest <= 0:
                raise OSError(errno.EPIPE, "The client reads too slowly.")
            poll.poll(min(rest, 1.0) * 1000)

    def _forget_spool(self) -> None:
        if self.spool is not None:
            self.spool.close()
            self.spool, self.spooled = None, 0


def has_room(limits: Limits, count: int) -> bool:
    """Whether the disk still has its reserve for the database after `count` more bytes."""
    try:
        return shutil.disk_usage(limits.folder).free - count >= limits.disk_reserve
    except OSError:
        return False
