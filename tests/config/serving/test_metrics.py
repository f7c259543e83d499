"""Metrics of the real server: two web processes, of which either may answer and either may be killed."""

import os
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.config.serving.servers import Server, request, running_server, web_processes
from tests.jobs.workers import wait_until

pytestmark = [pytest.mark.slow, pytest.mark.once]

TOKEN = "watch-me-please"
LOGIN = 'karat_requests_total{view="accounts:login",status="2xx"}'
TIMES = 60
THREADS = 16


def read(server: Server) -> dict[str, float]:
    answer = server.ask(request("/metrics", f"Authorization: Bearer {TOKEN}")).decode()
    lines = [line.rpartition(" ") for line in answer.splitlines() if line.startswith("karat_")]
    return {name: float(value) for name, _, value in lines}


def test_either_process_tells_what_both_have_counted_also_when_one_is_killed(tmp_path):
    with running_server(tmp_path / "data", KARAT_METRICS_TOKEN=TOKEN) as server:
        held = [server.connect() for _ in range(2 * THREADS)]  # so that both processes get some
        people = [threading.Thread(target=server.ask, args=[request("/login/")]) for _ in range(TIMES)]
        for person in people:
            person.start()
        for person in people:
            person.join()
        scrapes = [read(server) for _ in range(10)]
        both = web_processes(server.process.pid)

        assert {scrape[LOGIN] for scrape in scrapes} == {TIMES + 1}  # one more asked whether the server is there
        assert {scrape["karat_web_threads"] for scrape in scrapes} == {THREADS}
        assert {scrape["karat_web_threads_busy"] for scrape in scrapes} == {1}

        os.kill(both[0], signal.SIGKILL)
        wait_until(lambda: len(set(web_processes(server.process.pid)) - {both[0]}) == 2, "a new web process")
        server.ask(request("/login/"))
        wait_until(lambda: read(server)["karat_web_threads"] == THREADS, "the new process has its threads")

        assert read(server)[LOGIN] == TIMES + 2
        for client in held:
            client.close()


@contextmanager
def silent_database() -> Iterator[str]:
    """The URL of a server that takes connections and says nothing."""
    with socket.create_server(("127.0.0.1", 0), backlog=64) as listener:
        yield f"postgres://karat@127.0.0.1:{listener.getsockname()[1]}/karat"


def test_while_the_database_is_silent_the_server_is_not_ready_and_still_tells_its_counts(tmp_path):
    with (
        silent_database() as url,
        running_server(tmp_path / "data", DATABASE_URL=url, KARAT_METRICS_TOKEN=TOKEN) as server,
    ):
        answer = server.ask(request("/readyz"))
        found = read(server)

        assert answer.startswith(b"HTTP/1.1 503")
        assert b'\r\n{"status": "not ready", "database": "not ready"}\r\n' in answer
        assert (found["karat_database_up"], found[LOGIN]) == (0, 1)
        assert "karat_jobs" not in "".join(found)
