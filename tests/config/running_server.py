"""The real web server as a process of its own, and clients that take their time."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.conftest import REPO

SERVE = """
import socket, sys
from functools import partial
import django
django.setup()
from apps.config.up import answer, load_all
from apps.config.supervisor import Supervisor
supervisor = Supervisor(say=print)
supervisor.listen()
load_all()
supervisor.start("web server", partial(answer, socket.socket(fileno=int(sys.argv[1]))))
supervisor.watch()
supervisor.stop()
"""
MODULE = {"DJANGO_SETTINGS_MODULE": "apps.config.settings"}
PATIENCE = 30
SMALL = 8192  # buffers of the kernel, so that a client that does not read is felt at once


class Server:
    def __init__(self, port: int, data_dir: Path, process: subprocess.Popen[bytes]) -> None:
        self.port = port
        self.process = process
        self.data_dir = data_dir

    def connect(self, *, reads_slowly: bool = False) -> socket.socket:
        client = socket.socket()
        if reads_slowly:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, SMALL)
        client.settimeout(PATIENCE)
        client.connect(("127.0.0.1", self.port))
        return client

    def ask(self, words: bytes) -> bytes:
        """Send a whole request and read until the server closes."""
        with self.connect() as client:
            client.sendall(words)
            return rest_of(client)


@contextmanager
def running_server(data_dir: Path, **settings: str) -> Iterator[Server]:
    with socket.create_server(("127.0.0.1", 0), backlog=512) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SMALL)
        listener.set_inheritable(True)
        data_dir.mkdir(exist_ok=True)
        (data_dir / "static").mkdir(exist_ok=True)
        kept = {name: value for name, value in os.environ.items() if name not in {"DATABASE_URL", "BROKER_URL"}}
        process = subprocess.Popen(
            [sys.executable, "-c", SERVE, str(listener.fileno())],
            cwd=REPO,
            env=kept | {"KARAT_DATA_DIR": str(data_dir), "PYTHONPATH": str(REPO)} | MODULE | settings,
            pass_fds=[listener.fileno()],
        )
        try:
            server = Server(listener.getsockname()[1], data_dir, process)
            assert server.ask(request("/login/")).startswith(b"HTTP/1.1 200")
            yield server
        finally:
            there = children_of(process.pid)
            process.kill()
            process.wait(PATIENCE)
            for pid in there:
                with suppress(ProcessLookupError):
                    os.killpg(pid, signal.SIGKILL)


def children_of(supervisor: int) -> list[int]:
    """The processes that the supervisor has started and that live."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            state, parent = entry.read_text().rpartition(")")[2].split()[:2]
            if int(parent) == supervisor and state != "Z":
                found.append(int(entry.parent.name))
    return found


def request(path: str, *headers: str, method: str = "GET", closes: bool = True, body: bytes = b"") -> bytes:
    lines = [f"{method} {path} HTTP/1.1", "Host: localhost", *headers]
    if closes:
        lines.append("Connection: close")
    return "\r\n".join([*lines, "", ""]).encode() + body


def rest_of(client: socket.socket) -> bytes:
    pieces = []
    while piece := client.recv(65536):
        pieces.append(piece)
    return b"".join(pieces)


def answer_of(client: socket.socket) -> bytes:
    """One answer with a length, on a connection that stays open."""
    read = b""
    while b"\r\n\r\n" not in read:
        read += client.recv(65536)
    head, _, body = read.partition(b"\r\n\r\n")
    (length,) = [
        int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")
    ]
    while len(body) < length:
        body += client.recv(65536)
    return head + b"\r\n\r\n" + body
