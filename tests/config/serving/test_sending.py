"""An answer to somebody who does not read: kept, sent later, and never with a thread waiting for it."""

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from apps.config.serving import sending
from apps.config.serving.limits import Limits
from apps.config.serving.sending import Outgoing

MUCH = os.urandom(3_000_000)


@pytest.fixture
def pair() -> Iterator[tuple[socket.socket, socket.socket]]:
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    theirs.setblocking(False)
    with ours, theirs:
        yield ours, theirs


def read_all(outgoing: Outgoing, theirs: socket.socket) -> bytes:
    read = b""
    while True:
        is_done = outgoing.flush()
        try:
            read += theirs.recv(1_000_000)
        except BlockingIOError:
            if is_done:
                return read


def limits(folder: Path, **more: int) -> Limits:
    return Limits(folder=folder, file_bytes=1000, **{"disk_reserve": 0, **more})


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def test_unread_output_is_buffered_in_a_file_and_sent_in_order(tmp_path, pair):
    ours, theirs = pair
    outgoing = Outgoing(ours, limits(tmp_path, memory_bytes=1000))

    for at in range(0, len(MUCH), 100_000):
        outgoing.sendall(MUCH[at : at + 100_000])
    outgoing.sendall(b"end")
    outgoing.push()

    assert outgoing.in_memory <= 1000
    assert outgoing.spooled > 1_000_000
    assert read_all(outgoing, theirs) == MUCH + b"end"
    assert outgoing.spool is None


def test_a_file_is_sent_even_when_it_was_closed_meanwhile(tmp_path, pair):
    ours, theirs = pair
    outgoing = Outgoing(ours, limits(tmp_path))
    path = tmp_path / "file"
    path.write_bytes(MUCH)

    outgoing.sendall(b"head")
    with path.open("rb") as file:
        outgoing.sendfile(file, 10, 2_000_000)
    path.unlink()

    assert read_all(outgoing, theirs) == b"head" + MUCH[10:2_000_010]


def test_a_client_far_behind_blocks_the_thread_only_until_the_deadline(tmp_path, pair, monkeypatch):
    ours, _ = pair
    outgoing = Outgoing(ours, limits(tmp_path, answer_bytes=1000, memory_bytes=1000, grace_seconds=0))

    with pytest.raises(BrokenPipeError, match="reads too slowly"):
        outgoing.sendall(MUCH)


def test_a_nearly_full_disk_is_not_filled_with_answers(tmp_path, pair, monkeypatch):
    ours, _ = pair
    monkeypatch.setattr(sending, "has_room", lambda limits, count: False)
    outgoing = Outgoing(ours, limits(tmp_path, grace_seconds=0))

    with pytest.raises(BrokenPipeError):
        outgoing.sendall(MUCH)

    assert outgoing.spool is None


def test_what_is_given_up_leaves_no_open_file(tmp_path, pair):
    ours, _ = pair
    before = open_files()
    outgoing = Outgoing(ours, limits(tmp_path, memory_bytes=1000))
    path = tmp_path / "file"
    path.write_bytes(MUCH)
    with path.open("rb") as file:
        outgoing.sendfile(file)
        outgoing.sendall(MUCH)
        outgoing.abandon()

    assert open_files() == before
