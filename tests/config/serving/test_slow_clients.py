"""Two hundred clients that take their time, and people who want a page beside them."""

import json
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack
from statistics import median

import pytest

from tests.config.serving.servers import Server, answer_of, request, rest_of, running_server

pytestmark = [pytest.mark.once, pytest.mark.slow]

EACH = 50
LARGE = "/static/django_htmx/htmx-2.min.js"
PATIENT = {"KARAT_HEAD_SECONDS": "600", "KARAT_GRACE_SECONDS": "600"}
HASTY = {
    "KARAT_HEAD_SECONDS": "0.2",
    "KARAT_GRACE_SECONDS": "0.2",
    "KARAT_LEAST_RATE": str(1024**3),
    "KARAT_UPLOAD_MAX_BYTES": str(1024**2),
}


@pytest.fixture(scope="module")
def patient(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with running_server(tmp_path_factory.mktemp("patient"), **PATIENT) as server:
        yield server


@pytest.fixture(scope="module")
def hasty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with running_server(tmp_path_factory.mktemp("hasty"), **HASTY) as server:
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


def send_for_ever(client: socket.socket) -> None:
    while True:
        client.sendall(b"GET")


def test_people_are_served_within_a_second_beside_two_hundred_slow_clients(patient: Server) -> None:
    with ExitStack() as stack:
        slow = [stack.enter_context(kind(patient)) for kind in (slow_head, slow_body, idle, slow_reader) * EACH]
        seconds = []
        for turn in range(20):
            for client in slow[turn * 8 : turn * 8 + 8 : 4]:
                client.sendall(b"a")  # slow heads go on, a byte at a time
            start = time.monotonic()
            page = patient.ask(request("/login/"))
            seconds.append(time.monotonic() - start)

            assert page.startswith(b"HTTP/1.1 200")
    assert len(slow) == 200
    assert median(seconds) < 1


def test_a_slow_client_gets_the_whole_answer_in_the_end(patient: Server) -> None:
    with slow_head(patient) as head, slow_body(patient) as body, slow_reader(patient) as reader:
        head.sendall(b"yes\r\nConnection: close\r\n\r\n")
        body.sendall(b"x" * (1000 - len("email=")))
        reader.sendall(request(LARGE))
        read = rest_of(reader)

        assert rest_of(head).startswith(b"HTTP/1.1 200")
        assert b"403 Forbidden" in rest_of(body)
    files = read.split(b"HTTP/1.1 200 OK")[1:]
    assert len(files) == 5
    assert len({file.partition(b"\r\n\r\n")[2] for file in files}) == 1


@pytest.mark.parametrize("kind", [slow_head, slow_body])
def test_a_client_that_never_ends_a_request_gets_an_error_and_is_disconnected(hasty: Server, kind) -> None:
    with kind(hasty) as client:
        answer = rest_of(client)

    assert answer.startswith(b"HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n")
    assert answer.endswith(b"The request took too long to arrive. Send it again.\n")


def test_a_silent_client_is_disconnected_without_an_answer(hasty: Server) -> None:
    with hasty.connect() as client:
        assert rest_of(client) == b""


def test_a_client_that_never_reads_is_disconnected(hasty: Server) -> None:
    with slow_reader(hasty) as client:
        client.sendall(request(LARGE, closes=False) * 20)

        with pytest.raises(ConnectionError):  # the server hangs up: what is sent to it comes back as an error
            send_for_ever(client)


def test_a_body_beyond_the_limit_is_refused_before_it_is_sent(hasty: Server) -> None:
    words = request("/api/v1/projects/hut/systems/", "Content-Length: 5000001", method="POST")

    head, _, body = hasty.ask(words).partition(b"\r\n\r\n")

    assert head.startswith(b"HTTP/1.1 413 Content Too Large")
    assert b"Content-Type: application/problem+json" in head
    assert json.loads(body) == {
        "type": "urn:karat:problem:payload_too_large",
        "title": "Content Too Large",
        "status": 413,
        "detail": ("A body here has at most 5,000,000 bytes. Send less at once, or use the command line for a file."),
        "code": "payload_too_large",
    }


def test_a_client_that_expects_100_continue_gets_it(hasty: Server) -> None:
    with hasty.connect() as client:
        client.sendall(request("/login/", "Content-Length: 2", "Expect: 100-continue", method="POST"))

        assert client.recv(100) == b"HTTP/1.1 100 Continue\r\n\r\n"
        client.sendall(b"ab")
        assert b"403 Forbidden" in rest_of(client)


def test_requests_that_come_together_are_answered_in_their_order(hasty: Server) -> None:
    words = (
        request("/static/css/components/bar.css", closes=False)
        + request("/nowhere/", closes=False)
        + request("/login/")
    )

    answers = hasty.ask(words).split(b"HTTP/1.1 ")[1:]

    assert [answer[:3] for answer in answers] == [b"200", b"404", b"200"]


@pytest.mark.parametrize("ending", [b"", b"\r\n"])
def test_a_request_that_cannot_be_read_is_refused(hasty: Server, ending: bytes) -> None:
    assert hasty.ask(b"\r\nGET nowhere\r\n\r\n" + ending).startswith(b"HTTP/1.1 400 Bad Request")


def test_a_head_without_end_is_refused(hasty: Server) -> None:
    words = b"GET /api/ HTTP/1.1\r\n" + b"X-More: yes\r\n" * 6000

    assert hasty.ask(words).startswith(b"HTTP/1.1 431 ")


def test_nothing_of_what_was_collected_stays_on_the_disk(hasty: Server) -> None:
    body = b"x" * 300_000
    words = request("/login/", f"Content-Length: {len(body)}", method="POST", body=body)

    assert b"403 Forbidden" in hasty.ask(words)

    assert list((hasty.data_dir / "incoming").iterdir()) == []
