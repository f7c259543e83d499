"""The web server as it runs: beside clients that take their time, at its end, and what it refuses."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager, suppress
from http.client import HTTPConnection, HTTPException
from pathlib import Path

import pytest

from apps.config.web_server import THREADS
from tests.config.running_server import MODULE, Server, answer_of, children_of, request, rest_of, running_server
from tests.conftest import REPO
from tests.jobs.workers import wait_until

pytestmark = [pytest.mark.once, pytest.mark.slow]

EACH = 50
LARGE = "/static/django_htmx/htmx-2.min.js"
TOKEN = "watch-me-please"
LOGIN = 'karat_requests_total{status="2xx",view="accounts:login"}'
LONGEST_HEAD = 256 * 1024
TOO_LONG = "A body here has at most 5,000,000 bytes. Send less at once, or use the command line for a file."
PEOPLE = 3 * THREADS


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with running_server(tmp_path_factory.mktemp("server")) as server:
        yield server


def slow_head(server: Server) -> socket.socket:
    client = server.connect()
    client.sendall(b"GET /login/ HTTP/1.1\r\nHost: localhost\r\nX-Slow: ")
    return client


def slow_body(server: Server) -> socket.socket:
    client = server.connect()
    client.sendall(request("/login/", "Content-Length: 1000", method="POST") + b"email=")
    return client


def idle(server: Server) -> socket.socket:
    client = server.connect()
    client.sendall(request("/login/", closes=False))
    answer_of(client)
    return client


def slow_reader(server: Server) -> socket.socket:
    client = server.connect(reads_slowly=True)
    client.sendall(request(LARGE, closes=False) * 4)
    return client


# Slow clients --------------------------------------------------------------------------------------------------------


def test_people_are_served_within_a_second_beside_two_hundred_slow_clients(server: Server) -> None:
    with ExitStack() as stack:
        slow = [stack.enter_context(kind(server)) for kind in (slow_head, slow_body, idle, slow_reader) * EACH]
        seconds = []
        for turn in range(20):
            for client in slow[turn * 8 : turn * 8 + 8 : 4]:
                client.sendall(b"a")  # slow heads go on, a byte at a time
            start = time.monotonic()
            page = server.ask(request("/login/"))
            seconds.append(time.monotonic() - start)

            assert page.startswith(b"HTTP/1.1 200")
    assert len(slow) == 200
    assert sorted(seconds)[10] < 1


def test_a_slow_client_gets_the_whole_answer_in_the_end(server: Server) -> None:
    with slow_head(server) as head, slow_body(server) as body, slow_reader(server) as reader:
        head.sendall(b"yes\r\nConnection: close\r\n\r\n")
        body.sendall(b"x" * (1000 - len("email=")))
        reader.sendall(request(LARGE))
        read = rest_of(reader)

        assert rest_of(head).startswith(b"HTTP/1.1 200")
        assert b"403 Forbidden" in rest_of(body)
    files = read.split(b"HTTP/1.1 200 OK")[1:]
    assert len(files) == 5
    assert len({file.partition(b"\r\n\r\n")[2] for file in files}) == 1


# The end -------------------------------------------------------------------------------------------------------------


@contextmanager
def asked_together(server: Server, words: bytes) -> Iterator[Callable[[], list[bytes]]]:
    """So many people as wait for a thread too, all of whom have asked; call it for their answers."""
    with ExitStack() as stack, ThreadPoolExecutor(PEOPLE) as people:
        clients = [stack.enter_context(server.connect()) for _ in range(PEOPLE)]
        for client in clients:
            client.sendall(words)
        yield lambda: list(people.map(rest_of, clients))


def test_at_sigterm_who_has_asked_is_answered_and_nobody_idle_is_waited_for(tmp_path) -> None:
    with running_server(tmp_path / "data") as server, idle(server), slow_head(server):
        (web,) = children_of(server.process.pid)
        with asked_together(server, request("/login/")) as answers:
            wait_until(lambda: is_read(server), "the server has read all requests")
            began = time.monotonic()
            server.process.send_signal(signal.SIGTERM)
            answered = answers()
        server.process.wait(10)
        took = time.monotonic() - began

        assert [answer[:12] for answer in answered] == [b"HTTP/1.1 200"] * PEOPLE
        assert all(answer.endswith(b"</html>\n") for answer in answered)
        assert not is_there(web)
        assert took < 4


def is_read(server: Server) -> bool:
    """Whether nothing that clients have sent waits in the kernel any more, nor any of them."""
    with Path("/proc/net/tcp").open() as table:
        rows = [line.split() for line in table]
    return all(row[4].endswith(":00000000") for row in rows if row[1].endswith(f":{server.port:04X}"))


COUNTING = """
import os, socket, sys, time
import django
django.setup()
from apps.config import web_server
def application(environ, start_response):
    time.sleep(0.01)
    os.write(1, b".")
    start_response("200 OK", [("Content-Length", "2")])
    return [b"ok"]
web_server.application = application
web_server.serve(socket.socket(fileno=int(sys.argv[1])))
"""


def test_at_sigterm_what_people_without_pause_have_asked_is_answered_or_never_begun(tmp_path) -> None:
    with socket.create_server(("127.0.0.1", 0), backlog=64) as listener, ThreadPoolExecutor(PEOPLE) as people:
        listener.set_inheritable(True)
        process = subprocess.Popen(
            [sys.executable, "-c", COUNTING, str(listener.fileno())],
            cwd=REPO,
            env={**os.environ, **MODULE, "KARAT_DATA_DIR": str(tmp_path)},
            pass_fds=[listener.fileno()],
            stdout=subprocess.PIPE,
        )
        asked = [people.submit(ask_without_pause, listener.getsockname()[1]) for _ in range(PEOPLE)]
        process.stdout.read(10 * PEOPLE)
        process.send_signal(signal.SIGTERM)
        begun = 10 * PEOPLE + len(process.stdout.read())
        process.wait(10)
        listener.close()

        assert process.returncode == 0
        assert sum(one.result() for one in asked) == begun


def ask_without_pause(port: int) -> int:
    """How many requests were answered until the server was gone."""
    answered = 0
    client = HTTPConnection("127.0.0.1", port, timeout=30)
    with closing(client), suppress(OSError, HTTPException):
        client.connect()
        client.auto_open = 0  # one connection
        while True:
            client.request("GET", "/")
            assert client.getresponse().read() == b"ok"
            answered += 1
    return answered


def is_there(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()


# What it refuses, and how it reads -----------------------------------------------------------------------------------


def test_a_body_beyond_the_limit_of_its_address_is_refused_in_words(server: Server) -> None:
    body = b"x" * 5_000_001
    words = request("/api/v1/projects/hut/systems/", f"Content-Length: {len(body)}", method="POST", body=body)

    head, _, problem = server.ask(words).partition(b"\r\n\r\n")
    page = server.ask(request("/login/", f"Content-Length: {len(body)}", method="POST", body=body))

    assert head.startswith(b"HTTP/1.1 413 ")
    assert b"Content-Type: application/problem+json" in head
    assert json.loads(problem) == {
        "type": "urn:karat:problem:payload_too_large",
        "title": "Content Too Large",
        "status": 413,
        "detail": TOO_LONG,
        "code": "payload_too_large",
    }
    assert page.startswith(b"HTTP/1.1 413 ")
    assert page.partition(b"\r\n\r\n")[2].decode() == f"Content Too Large. {TOO_LONG}\n"
    assert list((server.data_dir / "incoming").iterdir()) == []


def test_a_body_beyond_every_limit_is_refused_before_it_is_sent(server: Server) -> None:
    words = request("/p/hut/import/", f"Content-Length: {4 * 1024**3}", method="POST")

    assert server.ask(words).startswith(b"HTTP/1.1 413 ")


def test_a_client_that_expects_100_continue_gets_it(server: Server) -> None:
    with server.connect() as client:
        client.sendall(request("/login/", "Content-Length: 2", "Expect: 100-continue", method="POST"))

        assert client.recv(100) == b"HTTP/1.1 100 Continue\r\n\r\n"
        client.sendall(b"ab")
        assert b"403 Forbidden" in rest_of(client)


def test_requests_that_come_together_are_answered_in_their_order_and_head_has_no_body(server: Server) -> None:
    words = (
        request("/static/css/components/bar.css", closes=False)
        + request("/login/", method="HEAD", closes=False)
        + request("/static/css/components/bar.css", method="HEAD", closes=False)
        + request("/nowhere/", closes=False)
        + request("/login/")
    )

    answers = server.ask(words).split(b"HTTP/1.1 ")[1:]

    assert [answer[:3] for answer in answers] == [b"200", b"200", b"200", b"404", b"200"]
    assert [answer.partition(b"\r\n\r\n")[2] for answer in answers[1:3]] == [b"", b""]


def test_what_cannot_be_read_is_refused(server: Server) -> None:
    assert server.ask(b"\r\nGET nowhere\r\n\r\n").startswith(b"HTTP/1.0 400 Bad Request")
    assert b" 431 " in server.ask(b"GET /api/ HTTP/1.1\r\nX-Long: ".ljust(LONGEST_HEAD, b"x"))[:20]
    two_lengths = request("/login/", "Content-Length: 4", "Content-Length: 5", method="POST", body=b"abcd")
    assert b" 400 " in server.ask(two_lengths)[:20]


# Metrics -------------------------------------------------------------------------------------------------------------


def read(server: Server) -> dict[str, float]:
    answer = server.ask(request("/metrics", f"Authorization: Bearer {TOKEN}")).decode()
    lines = [line.rpartition(" ") for line in answer.splitlines() if line.startswith("karat_")]
    return {name: float(value) for name, _, value in lines}


def test_every_answer_is_counted(tmp_path) -> None:
    with running_server(tmp_path / "data", KARAT_METRICS_TOKEN=TOKEN) as server:
        with asked_together(server, request("/login/")) as answers:
            answers()
        found = read(server)

    assert found[LOGIN] == PEOPLE + 1  # one more asked whether the server is there
    assert (found["karat_web_threads"], found["karat_web_threads_busy"]) == (THREADS, 1)


@contextmanager
def silent_database() -> Iterator[str]:
    """The URL of a server that takes connections and says nothing."""
    with socket.create_server(("127.0.0.1", 0), backlog=64) as listener:
        yield f"postgres://karat@127.0.0.1:{listener.getsockname()[1]}/karat"


def test_while_the_database_is_silent_the_server_is_not_ready_and_still_tells_its_counts(tmp_path) -> None:
    with (
        silent_database() as url,
        running_server(tmp_path / "data", DATABASE_URL=url, KARAT_METRICS_TOKEN=TOKEN) as server,
    ):
        answer = server.ask(request("/readyz"))
        found = read(server)

        assert answer.startswith(b"HTTP/1.1 503")
        assert answer.endswith(b'\r\n\r\n{"status": "not ready", "database": "not ready"}')
        assert (found["karat_database_up"], found[LOGIN]) == (0, 1)
        assert "karat_jobs" not in "".join(found)
