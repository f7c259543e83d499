"""A server for tests, run as a process of its own: `python -m tests.remote_server [certificate key]` prints its port.

It answers as search services do, and as they do on bad days; what it saw is at /seen.
"""

import json
import socket
import ssl
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from time import monotonic, sleep
from urllib.parse import parse_qs, urlsplit

TEXTS = {
    "a": "red key opens the red door",
    "b": "green door",
    "c": "blue window and green wall",
    "d": "the key to the window",
}
SECRET = "sesame-open-9"
TOLD = "a word that only the other side knows"


class Seen:
    """What arrived so far."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.forget()

    def forget(self) -> None:
        self.paths: Counter[str] = Counter()
        self.words: Counter[str] = Counter()
        self.connections: set[object] = set()
        self.now = self.most = 0

    def as_json(self) -> dict:
        return {
            "paths": self.paths,
            "words": self.words,
            "connections": len(self.connections),
            "most_at_once": self.most,
        }


SEEN = Seen()


def ranking_of(words: str) -> list[tuple[str, float]]:
    """The texts that share words with a query, most first."""
    asked = set(words.lower().split())
    shared = {key: len(asked & set(text.split())) for key, text in TEXTS.items()}
    return sorted(((key, float(n)) for key, n in shared.items() if n), key=lambda pair: (-pair[1], pair[0]))


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # the end of an answer waits for nobody

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        self.serve({})

    def do_POST(self) -> None:
        length = int(self.headers.get("Content-Length", "0"))
        self.serve(json.loads(self.rfile.read(length) or b"{}"))

    def serve(self, body: dict) -> None:
        parts = urlsplit(self.path)
        options = {key: values[0] for key, values in parse_qs(parts.query).items()}
        words = str(body.get("q", options.get("q", "")))
        name = parts.path.strip("/").replace("/", "_") or "root"
        if name == "seen":
            return self.answer(SEEN.as_json())
        if name == "forget":
            SEEN.forget()
            return self.answer({})
        with SEEN.lock:
            SEEN.paths[parts.path] += 1
            SEEN.words[words] += 1
            SEEN.connections.add(self.client_address)
            SEEN.now += 1
            SEEN.most = max(SEEN.most, SEEN.now)
        try:
            getattr(self, f"at_{name}", self.at_nowhere)(words, options, body)
        finally:
            with SEEN.lock:
                SEEN.now -= 1

    def answer(self, value: object, status: int = 200, **headers: str) -> None:
        self.send(json.dumps(value).encode(), status, **headers)

    def send(self, body: bytes, status: int = 200, **headers: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def hits(self, words: str) -> dict:
        return {"hits": [{"doc": {"id": f"doc:{key}"}, "score": score} for key, score in ranking_of(words)]}

    # Good days

    def at_search(self, words: str, options: dict, body: dict) -> None:
        self.answer(self.hits(words))

    def at_chunks(self, words: str, options: dict, body: dict) -> None:
        """Pieces of the texts, with document and pages, the best two with one score; the second has no page."""
        found = [
            {"doc": "doc", "text": f"{words} {key}", "page": number or None, "score": score}
            for number, (key, score) in enumerate(ranking_of(words))
        ]
        self.answer({"hits": found})

    def at_passages(self, words: str, options: dict, body: dict) -> None:
        """The texts with their document, without ids; pages where it knows them."""
        pages = {"a": (1, 1), "d": (4, 5)}
        found = []
        for key, _ in ranking_of(words):
            first, last = pages.get(key, (None, None))
            found.append({"content": TEXTS[key], "about": {"file": "house", "from": first, "to": last}})
        self.answer({"found": found})

    def at_unknown(self, words: str, options: dict, body: dict) -> None:
        found = [{"doc": {"id": key}, "score": 1} for key in ("nowhere", "b", "b", "lost", "a")]
        self.answer({"hits": found})

    def at_locked(self, words: str, options: dict, body: dict) -> None:
        if self.headers.get("Authorization") != f"Bearer {SECRET}":
            return self.answer({"error": TOLD, "you_sent": self.headers.get("Authorization", "")}, 401)
        self.answer(self.hits(words))

    def at_spring__search(self, words: str, options: dict, body: dict) -> None:
        """Hits with the fields of their source that were asked for; the best has no page."""
        text = body["query"]["match"]["text"]["query"]
        found = []
        for number, (key, score) in enumerate(ranking_of(text)):
            whole = {"text": f"{text} {key}", "file": "doc", **({"page": number} if number else {})}
            source = {name: whole[name] for name in body["_source"] or () if name in whole}
            found.append({"_index": "spring", "_id": key, "_score": score, **({"_source": source} if source else {})})
        self.answer(
            {
                "took": 1,
                "timed_out": text == "zebra",
                "_shards": {"total": 1, "successful": 1, "skipped": 0, "failed": 0},
                "hits": {"total": {"value": len(found), "relation": "eq"}, "hits": found[: body["size"]]},
            }
        )

    def at_closing(self, words: str, options: dict, body: dict) -> None:
        """Answers, and hangs up without having said so."""
        self.answer(self.hits(words))
        self.close_connection = True

    def at_together(self, words: str, options: dict, body: dict) -> None:
        """Waits, for a moment at most, until as many as `n` are here at once."""
        deadline = monotonic() + 2
        while SEEN.most < int(options["n"]) and monotonic() < deadline:
            sleep(0.005)
        self.answer(self.hits(words))

    # Bad days

    def at_nowhere(self, words: str, options: dict, body: dict) -> None:
        self.answer({"error": TOLD}, 404)

    def at_busy(self, words: str, options: dict, body: dict) -> None:
        """Too many requests, the first time a query is asked."""
        if SEEN.words[words] == 1:
            return self.answer({"error": TOLD}, 429, Retry_After=options.get("wait", "0"))
        self.answer(self.hits(words))

    def at_broken(self, words: str, options: dict, body: dict) -> None:
        self.answer({"error": TOLD}, 500)

    def at_moody(self, words: str, options: dict, body: dict) -> None:
        """Cannot bear one word."""
        if options["no"] in words.split():
            return self.answer({"error": TOLD}, 500)
        self.answer(self.hits(words))

    def at_redirect(self, words: str, options: dict, body: dict) -> None:
        self.answer({}, 302, Location="http://169.254.169.254/latest/meta-data/")

    def at_nonsense(self, words: str, options: dict, body: dict) -> None:
        self.send(b'{"hits": [' + TOLD.encode())

    def at_nan(self, words: str, options: dict, body: dict) -> None:
        self.send(b'{"hits": [{"doc": {"id": "a"}, "score": NaN}]}')

    def at_packed(self, words: str, options: dict, body: dict) -> None:
        self.send(b"\x1f\x8b\x08", Content_Encoding="gzip")

    def at_huge(self, words: str, options: dict, body: dict) -> None:
        self.send_response(200)
        self.end_headers()
        self.close_connection = True
        with suppress(OSError):
            while True:
                self.wfile.write(b" " * 65_536)

    def at_drip(self, words: str, options: dict, body: dict) -> None:
        """A byte now and then, for ever."""
        self.send_response(200)
        self.end_headers()
        self.close_connection = True
        with suppress(OSError):
            while True:
                self.wfile.write(b" ")
                self.wfile.flush()
                sleep(0.02)

    def at_hang(self, words: str, options: dict, body: dict) -> None:
        """Says nothing until the other side has gone."""
        self.close_connection = True
        with suppress(OSError):
            self.connection.recv(1)

    def at_cut(self, words: str, options: dict, body: dict) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "1000")
        self.end_headers()
        self.wfile.write(b'{"hits"')
        self.close_connection = True


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, *_: object) -> None:
        """Clients hang up here on purpose."""


def main(arguments: Sequence[str]) -> None:
    server = Server(("127.0.0.1", 0), Handler)
    if arguments:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*arguments)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    print(server.server_port, flush=True)
    server.serve_forever()


@contextmanager
def running(*certificate_and_key: Path) -> Iterator[int]:
    """The port of such a server, in a process that ends with the block."""
    command = [sys.executable, "-m", "tests.remote_server", *map(str, certificate_and_key)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, cwd=Path(__file__).parent.parent)
    try:
        assert process.stdout is not None
        yield int(process.stdout.readline())
    finally:
        process.kill()
        process.wait()


# Answers byte by byte, for those that no library would send

Sends = Callable[[socket.socket], object]
OK = b"HTTP/1.1 200 OK\r\n"


def once(answer: bytes) -> Sends:
    return lambda connection: connection.sendall(answer)


def for_ever(begin: bytes, piece: bytes, pause: float = 0) -> Sends:
    def send(connection: socket.socket) -> None:
        connection.sendall(begin)
        while True:
            connection.sendall(piece)
            sleep(pause)

    return send


def body(content: bytes, head: bytes = OK) -> Sends:
    return once(head + b"Content-Length: %d\r\n\r\n" % len(content) + content)


@contextmanager
def answering(send: Sends) -> Iterator[int]:
    """The port of a server that reads one request of each connection, sends this, and closes."""

    def serve(connection: socket.socket) -> None:
        with connection, suppress(OSError):
            connection.recv(65_536)
            send(connection)
            connection.shutdown(socket.SHUT_WR)
            while connection.recv(65_536):
                pass

    def accept() -> None:
        with suppress(OSError):
            while True:
                threading.Thread(target=serve, args=listener.accept()[:1], daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=accept, daemon=True).start()
        yield listener.getsockname()[1]
        listener.shutdown(socket.SHUT_RDWR)


if __name__ == "__main__":
    main(sys.argv[1:])
