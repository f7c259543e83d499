"""A network between clients and a server that fails by a seed: a small TCP proxy, one request a connection."""

import random
import socket
import socketserver
import threading
import time
from collections import Counter
from contextlib import suppress
from enum import StrEnum

NAME = b"x-request-name:"
PIECE = 65_536


class Fault(StrEnum):
    NONE = "none"
    LOST = "the request never arrives"
    CUT = "half of the request arrives"
    DEAF = "the request is handled and its answer lost"
    TORN = "half of the answer arrives"
    SLOW = "the request arrives late"
    TWICE = "the request arrives twice at once"
    GHOST = "the request is given up, and arrives later all the same"


WEIGHTS = {
    Fault.NONE: 55,
    Fault.LOST: 8,
    Fault.CUT: 4,
    Fault.DEAF: 10,
    Fault.TORN: 5,
    Fault.SLOW: 6,
    Fault.TWICE: 6,
    Fault.GHOST: 6,
}


def fault_for(seed: int, name: str) -> Fault:
    """What befalls the request of this name: the same for the same seed, in whatever order requests come."""
    chance = random.Random(f"{seed} {name}")
    return chance.choices(list(WEIGHTS), weights=list(WEIGHTS.values()))[0]


class Network:
    """Listens on `port` while it is open, and passes what arrives on to the server, or not."""

    def __init__(self, server_port: int, *, seed: int) -> None:
        self.server_port, self.seed = server_port, seed
        self.met: Counter[Fault] = Counter()
        self.ghosts: list[threading.Thread] = []
        network = self

        class Passage(socketserver.BaseRequestHandler):
            def handle(self) -> None:
                network.carry(self.request)

        class Listener(socketserver.ThreadingTCPServer):
            daemon_threads = True
            allow_reuse_address = True
            request_queue_size = 128

        self.listener = Listener(("127.0.0.1", 0), Passage)
        self.port = self.listener.server_address[1]
        threading.Thread(target=self.listener.serve_forever, daemon=True).start()

    def close(self) -> None:
        """Take nothing more, and wait for the requests that are still under way."""
        self.listener.shutdown()
        self.listener.server_close()
        for ghost in self.ghosts:
            ghost.join(60)

    def carry(self, link: socket.socket) -> None:
        """One connection: read the request, let its fault happen."""
        link.settimeout(60)
        try:
            request = read_request(link)
            fault = fault_for(self.seed, name_of(request))
            self.met[fault] += 1
            answer = self._meet(fault, request)
            if answer:
                link.sendall(answer)
        except OSError:
            pass  # whoever sent it sees a broken connection, as in life

    def _meet(self, fault: Fault, request: bytes) -> bytes:
        if fault is Fault.LOST:
            return b""
        if fault is Fault.CUT:
            return self._hand(request[: len(request) // 2], is_whole=False)
        if fault is Fault.GHOST:
            ghost = threading.Thread(target=self._later, args=(request,), daemon=True)
            self.ghosts.append(ghost)
            ghost.start()
            return b""
        if fault is Fault.SLOW:
            time.sleep(0.1)
        if fault is Fault.TWICE:
            twin = threading.Thread(target=self._quietly, args=(request,), daemon=True)
            twin.start()
            answer = self._hand(request)
            twin.join(60)
            return answer
        answer = self._hand(request)
        if fault is Fault.DEAF:
            return b""
        return answer[: len(answer) // 2] if fault is Fault.TORN else answer

    def _later(self, request: bytes) -> None:
        time.sleep(0.3)
        self._quietly(request)

    def _quietly(self, request: bytes) -> None:
        with suppress(OSError):
            self._hand(request)

    def _hand(self, request: bytes, *, is_whole: bool = True) -> bytes:
        """Give it to the server and return all it says."""
        with socket.create_connection(("127.0.0.1", self.server_port), 30) as link:
            link.settimeout(60)
            link.sendall(request)
            if not is_whole:
                return b""
            return b"".join(iter(lambda: link.recv(PIECE), b""))


def read_request(link: socket.socket) -> bytes:
    """Headers and as much of a body as they announce. Raises ConnectionError when it ends before that."""
    data = b""
    while b"\r\n\r\n" not in data:
        data += _more(link)
    head, _, body = data.partition(b"\r\n\r\n")
    lines = head.lower().splitlines()
    length = next((int(line.split(b":")[1]) for line in lines if line.startswith(b"content-length:")), 0)
    while len(body) < length:
        body += _more(link)
    return head + b"\r\n\r\n" + body


def _more(link: socket.socket) -> bytes:
    if piece := link.recv(PIECE):
        return piece
    raise ConnectionError("the client went away")


def name_of(request: bytes) -> str:
    """The name a client gave its request."""
    lines = request.partition(b"\r\n\r\n")[0].splitlines()
    found = next((line for line in lines if line.lower().startswith(NAME)), b":")
    return found.split(b":", 1)[1].strip().decode()
