"""Clients spread over the web processes."""

import os
import time
from contextlib import suppress
from pathlib import Path

import pytest

from apps.config.serving.crowds import Crowds
from tests.config.serving.servers import PATIENCE, request, running_server, web_processes

MANY = 24


@pytest.mark.parametrize(
    ("own", "other", "is_ahead"),
    [(0, 0, False), (1, 0, False), (2, 0, True), (9, 8, False), (10, 8, False), (11, 8, True), (8, 20, False)],
)
def test_a_process_is_ahead_of_one_that_has_clearly_fewer(own, other, is_ahead):
    crowds = Crowds()
    crowds.say(3, own)
    crowds.say(4, other)

    assert crowds.is_ahead(3) == is_ahead


def test_a_process_that_has_ended_has_no_place_for_clients():
    crowds = Crowds()
    crowds.say(3, 7)
    crowds.say(4, 0)
    crowds.leave(4)

    assert not crowds.is_ahead(3)


def test_what_one_process_says_the_others_see():
    crowds = Crowds()
    crowds.say(0, 5)
    child = os.fork()
    if not child:
        crowds.say(1, 2)
        os._exit(0)
    os.waitpid(child, 0)

    assert crowds.is_ahead(0)


def test_the_pulse_of_a_process_changes_when_it_comes_round_and_is_seen_by_its_parent():
    crowds = Crowds()
    before = crowds.pulse(3), crowds.pulse(4)
    child = os.fork()
    if not child:
        crowds.beat(3)
        os._exit(0)
    os.waitpid(child, 0)

    assert (crowds.pulse(3) != before[0], crowds.pulse(4) != before[1]) == (True, False)


def connections_of(process: int) -> int:
    """How many connected sockets of TCP a process holds."""
    lines = Path(f"/proc/{process}/net/tcp").read_text().splitlines()[1:]
    established = {f"socket:[{line.split()[9]}]" for line in lines if line.split()[3] == "01"}
    there = 0
    for file in Path(f"/proc/{process}/fd").iterdir():
        with suppress(OSError):
            there += str(file.readlink()) in established
    return there


def test_clients_that_come_together_are_spread_and_all_are_answered(tmp_path):
    with running_server(tmp_path / "data") as server:
        clients = [server.connect() for _ in range(MANY)]
        for client in clients:
            client.sendall(request("/healthz", closes=False))
        for client in clients:
            assert client.recv(65536).startswith(b"HTTP/1.1 200")

        each = [connections_of(process) for process in web_processes(server.process.pid)]
        assert len(each) > 1
        assert sum(each) == MANY
        assert min(each) >= MANY / len(each) / 2
        for client in clients:
            client.close()


def test_when_a_process_is_killed_the_others_take_its_clients_and_another_comes(tmp_path):
    with running_server(tmp_path / "data") as server:
        before = web_processes(server.process.pid)
        killed = before[0]
        os.kill(killed, 9)
        end = time.monotonic() + PATIENCE
        while killed in web_processes(server.process.pid) and time.monotonic() < end:
            time.sleep(0.05)

        for _ in range(MANY):
            assert server.ask(request("/healthz")).startswith(b"HTTP/1.1 200")
        while len(web_processes(server.process.pid)) < len(before) and time.monotonic() < end:
            time.sleep(0.05)
        assert len(web_processes(server.process.pid)) == len(before)
