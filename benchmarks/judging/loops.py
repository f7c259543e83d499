"""Clients that fetch one pair and grade it, again and again, as fast as they are answered: one thread, many sockets.

A client costs the processor a tenth of what `http.client` in a thread does: it shares the machine with the server.
"""

import json
import secrets
import selectors
import socket
import time
from typing import NamedTuple

CSRF = "b" * 32
RETRY_SECONDS = 0.02


class Loops(NamedTuple):
    """What the clients saw. A loop is a pair fetched and its grade acknowledged; times in seconds."""

    clients: int
    seconds: float
    times: list[float]
    seats: list[int]
    errors: list[str]

    @property
    def speed(self) -> float:
        """Loops a second."""
        return len(self.times) / self.seconds


def joined(turns: list[Loops]) -> Loops:
    """Several turns of the same clients as one."""
    return Loops(
        turns[0].clients,
        sum(turn.seconds for turn in turns),
        [time for turn in turns for time in turn.times],
        [seat for turn in turns for seat in turn.seats],
        [error for turn in turns for error in turn.errors],
    )


class Client:
    """One person who is signed in, on a kept connection.

    Of the kind `evidence` they mark a part of each text; of `regrade` they grade one pair again and again.
    """

    def __init__(self, port: int, root: str, session: str, kind: str = "plain") -> None:
        self.port, self.kind, self.graded, self.number = port, kind, 0, 0
        cookie = f"karat-session={session}; karat-csrf={CSRF}"
        head = f"Host: 127.0.0.1:{port}\r\nCookie: {cookie}\r\nAccept: application/json\r\n"
        self.fetching = f"GET {root}/pairs/?n=1 HTTP/1.1\r\n{head}\r\n".encode()
        self.grading = (
            f"POST {root}/judgements/ HTTP/1.1\r\n{head}X-CSRFToken: {CSRF}\r\nContent-Type: application/json\r\n"
        )
        self.seat = 0
        self.begun = 0.0
        self.data = b""
        self.connect()

    def connect(self) -> None:
        """Raises OSError while the server is away."""
        self.data = b""
        self.sock = socket.create_connection(("127.0.0.1", self.port))
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def fetch(self) -> None:
        self.seat, self.begun = 0, time.perf_counter()
        self.sock.sendall(self.fetching)

    def grade(self, seat: int) -> None:
        self.seat = self.graded = (self.graded or seat) if self.kind == "regrade" else seat
        self.number += 1
        facts = {"seat": self.seat, "grade": (seat + self.number) % 4, "active_ms": 900}
        if self.kind == "evidence":
            facts["spans"] = [[0, 8], [20, 40]]
        body = json.dumps({**facts, "idempotency_key": secrets.token_hex(16)})
        self.sock.sendall(f"{self.grading}Content-Length: {len(body)}\r\n\r\n{body}".encode())

    def answer(self) -> tuple[int, bytes] | None:
        """Status and body once the answer is complete. Raises OSError when the server has closed the connection."""
        piece = self.sock.recv(65536)
        if not piece:
            raise OSError("the connection was closed")
        self.data += piece
        head, found, rest = self.data.partition(b"\r\n\r\n")
        if not found:
            return None
        lines = head.split(b"\r\n")
        lengths = [line[15:] for line in lines if line[:15].lower() == b"content-length:"]
        if len(rest) < int(lengths[0]):
            return None
        self.data = b""
        return int(lines[0].split()[1]), rest


def loops(
    port: int, root: str, sessions: list[str], seconds: float, *, kind: str = "plain", comes_back: bool = False
) -> Loops:
    """Let these people work for so long; nobody starts a loop after the end, and all are waited for.

    With `comes_back` a lost connection is no error: the server was killed, and the client connects until it is back.
    What it had sent without an answer is forgotten, as it was never acknowledged.
    """
    clients = [Client(port, root, session, kind) for session in sessions]
    lost: list[Client] = []
    times: list[float] = []
    seats: list[int] = []
    errors: list[str] = []
    with selectors.DefaultSelector() as poller:
        begun = time.perf_counter()
        end = begun + seconds
        for client in clients:
            poller.register(client.sock, selectors.EVENT_READ, client)
            client.fetch()
        while poller.get_map() or lost:
            for key, _ in poller.select(RETRY_SECONDS if lost else 60) or _late(poller, lost, errors):
                client = key.data
                try:
                    goes_on = _turn(client, end, times, seats, errors)
                except OSError as fault:
                    goes_on = False
                    if comes_back:
                        lost.append(client)
                    else:
                        errors.append(str(fault))
                if not goes_on:
                    poller.unregister(client.sock)
                    client.sock.close()
            lost = _still_lost(lost, poller, end)
        took = time.perf_counter() - begun
    return Loops(len(clients), took, times, seats, errors)


def _still_lost(lost: list[Client], poller: selectors.BaseSelector, end: float) -> list[Client]:
    """Connect those that can, and let them begin a loop; return the others. After the end nobody tries any more."""
    still = []
    for client in lost:
        if time.perf_counter() >= end:
            continue
        try:
            client.connect()
            client.fetch()
        except OSError:
            still.append(client)
        else:
            poller.register(client.sock, selectors.EVENT_READ, client)
    return still


def _late(poller: selectors.BaseSelector, lost: list[Client], errors: list[str]) -> list:
    """A minute without any answer: give up."""
    for key in [] if lost else list(poller.get_map().values()):
        errors.append("no answer for a minute")
        poller.unregister(key.fileobj)
    return []


def _turn(client: Client, end: float, times: list[float], seats: list[int], errors: list[str]) -> bool:
    """Take what arrived, and ask for what is next; False when this client is done."""
    answer = client.answer()
    if answer is None:
        return True
    status, body = answer
    if client.seat:
        if status != 201:
            errors.append(f"grade: {status} {body[:200]!r}")
        else:
            times.append(time.perf_counter() - client.begun)
            seats.append(client.seat)
        if time.perf_counter() >= end:
            return False
        client.fetch()
        return True
    pairs = json.loads(body)["pairs"] if status == 200 else []
    if not pairs:
        errors.append(f"pairs: {status} {body[:200]!r}")
        return False
    client.grade(pairs[0]["seat"])
    return True
