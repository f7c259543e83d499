"""What is sent again, and when: against a server that fails as it is told to."""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest

from apps.cli.client.client import LONGEST_WAIT, FileForm, NoAnswer, NotReady, Problem, Transport, wait_after

CUT = 0  # instead of a status: the connection ends without an answer


class Server:
    def __init__(self) -> None:
        self.answers: list[tuple[int, dict[str, str], bytes]] = []
        self.keys: list[str | None] = []
        self.bodies: list[bytes] = []
        self.url = ""

    def will(self, *statuses: int, body: bytes = b"{}", **headers: str) -> None:
        self.answers += [(status, headers, body) for status in statuses]


@pytest.fixture
def server() -> Iterator[Server]:
    state = Server()

    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            state.bodies.append(self.rfile.read(int(self.headers.get("Content-Length", 0))))
            state.keys.append(self.headers.get("Idempotency-Key"))
            status, headers, body = state.answers.pop(0)
            if status == CUT:
                return
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name.replace("_", "-"), value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_POST = answer

        def log_message(self, *_: Any) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as running:
        state.url = f"http://127.0.0.1:{running.server_port}"
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield state
        finally:
            running.shutdown()
            thread.join()


@pytest.fixture
def waits() -> list[float]:
    return []


@pytest.fixture
def transport(server, waits) -> Iterator[Transport]:
    made = Transport(server.url, "karat_x", timeout=5, tries=3, wait=waits.append)
    yield made
    made.close()


def test_a_read_survives_lost_connections_and_passing_faults(server, transport, waits):
    server.will(CUT, 502, 200)

    assert transport.ask("GET", "/", repeatable=True).status == 200
    assert len(waits) == 2
    assert waits[0] < waits[1]


@pytest.mark.parametrize("status", [CUT, 500, 502, 504])
def test_a_write_that_may_have_arrived_is_sent_once(server, transport, waits, status):
    server.will(status, 200)

    with pytest.raises(NoAnswer if status == CUT else Problem):
        transport.ask("POST", "/", repeatable=False)

    assert (len(server.keys), waits) == (1, [])


@pytest.mark.parametrize("status", [429, 503])
def test_a_write_that_was_not_begun_is_sent_again_under_the_same_key(server, transport, waits, status):
    server.will(status, Retry_After="7")
    server.will(201)

    assert transport.ask("POST", "/", repeatable=False).status == 201
    assert waits == [7]
    assert server.keys[0]
    assert server.keys[0] == server.keys[1]


def test_a_repeatable_write_survives_a_lost_answer_under_the_same_key(server, transport):
    server.will(CUT, 200)

    assert transport.ask("POST", "/", repeatable=True).status == 200
    assert len(set(server.keys)) == 1


def test_a_file_is_sent_whole_again_after_an_answer_that_nothing_was_begun(server, transport, tmp_path):
    path = tmp_path / 'my "best".csv'
    path.write_bytes(b"a,b\r\n" * 400_000)  # more than a piece
    server.will(503, 201)

    transport.ask("POST", "/", form=FileForm(path, {"format": "csv"}), repeatable=False)

    first, second = server.bodies
    assert first == second
    assert first.count(path.read_bytes()) == 1
    assert b'name="file"; filename="my %22best%22.csv"' in first
    assert b'name="format"\r\n\r\ncsv\r\n' in first


def test_a_file_whose_answer_is_lost_is_not_sent_again(server, transport, waits, tmp_path):
    (tmp_path / "a.csv").write_text("a,b\n")
    server.will(CUT)

    with pytest.raises(NoAnswer):
        transport.ask("POST", "/", form=FileForm(tmp_path / "a.csv", {}), repeatable=False)

    assert (len(server.keys), waits) == (1, [])


def test_two_writes_have_two_keys_and_a_read_none(server, transport):
    server.will(200, 200, 200)

    for method in ("POST", "POST", "GET"):
        transport.ask(method, "/", repeatable=False)

    first, second, none = server.keys
    assert first != second
    assert none is None


def test_after_the_last_attempt_the_last_problem_is_raised(server, transport, waits):
    server.will(503, 503, 503, body=b'{"detail": "Try again in a minute.", "code": "grades_not_read"}')

    with pytest.raises(NotReady, match="Try again in a minute") as refused:
        transport.ask("GET", "/", repeatable=True)

    assert (refused.value.code, len(waits)) == ("grades_not_read", 2)


@pytest.mark.parametrize("status", [301, 400, 404, 409])
def test_what_another_attempt_does_not_change_is_raised_at_once(server, transport, waits, status):
    server.will(status, body=b"<html>some proxy</html>", Location="http://127.0.0.1:9/")

    with pytest.raises(Problem, match=f"answered {status}"):
        transport.ask("GET", "/", repeatable=True)

    assert waits == []


def test_waits_grow_to_half_a_minute_whatever_the_server_asks_for():
    assert [wait_after(1, "3"), wait_after(1, "9999")] == [3, LONGEST_WAIT]
    assert 0.25 <= wait_after(1, "") <= 0.5
    assert LONGEST_WAIT / 2 <= wait_after(40, "") <= LONGEST_WAIT


def test_an_address_without_a_scheme_is_said():
    with pytest.raises(Exception, match="neither https:// nor http://"):
        Transport("karat.example.org", "", timeout=1, tries=1)
