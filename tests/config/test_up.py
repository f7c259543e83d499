"""`karat up` as people run it: a process of its own, on a free port, in an empty folder."""

import json
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from tests.conftest import REPO

pytestmark = pytest.mark.slow

PATIENCE = 60
UP = [sys.executable, "manage.py", "up", "--no-setup", "--no-demo"]
OURS = {"KARAT_DATA_DIR", "KARAT_DEMO", "DATABASE_URL", "BROKER_URL", "KARAT_DB_POOL"}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class House:
    """One `karat up` and what it says."""

    def __init__(self, data_dir: Path, port: int) -> None:
        self.port = port
        self.out = data_dir.parent / "out.txt"
        environment = {name: value for name, value in os.environ.items() if name not in OURS}
        with self.out.open("wb") as out:
            self.process = subprocess.Popen(
                [*UP, "--port", str(port), "--data-dir", str(data_dir)],
                cwd=REPO,
                env=environment,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def said(self) -> str:
        return self.out.read_text(errors="replace")

    def health(self) -> dict | None:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/healthz", timeout=5) as answer:
                return json.load(answer)
        except OSError:
            return None

    def descendants(self) -> list[int]:
        return descendants_of(self.process.pid)

    def wait_for_worker(self) -> dict:
        return wait_for(lambda: seen(self.health()), self)


def seen(health: dict | None) -> dict | None:
    return health if health and health["worker_seconds"] is not None else None


def wait_for(look, house: House):
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if value := look():
            return value
        assert house.process.poll() is None, house.said()
        time.sleep(0.05)
    raise AssertionError(house.said())


def descendants_of(pid: int) -> list[int]:
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [int(child) for child in children] + [deep for child in children for deep in descendants_of(int(child))]


def alive(pids: list[int]) -> list[int]:
    return [pid for pid in pids if Path(f"/proc/{pid}").exists() and not is_zombie(pid)]


def is_zombie(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


def all_gone(pids: list[int]) -> bool:
    end = time.monotonic() + 15
    while time.monotonic() < end:
        if not alive(pids):
            return True
        time.sleep(0.05)
    return False


@contextmanager
def running(data_dir: Path) -> Iterator[House]:
    house = House(data_dir, free_port())
    pids = [house.process.pid]
    try:
        house.wait_for_worker()
        pids += house.descendants()
        yield house
    finally:
        for pid in alive(pids):
            os.kill(pid, signal.SIGKILL)
        house.process.wait(10)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_up_starts_everything_and_stops_all_of_it(tmp_path, number):
    with running(tmp_path / "data") as house:
        health = house.health()
        pids = house.descendants()

        house.process.send_signal(number)

        assert house.process.wait(15) == 0, house.said()
        assert all_gone(pids)
    assert (health["status"], health["karat"], health["database"]["engine"]) == ("ok", "0.1.0", "SQLite")
    assert health["worker"].startswith("worker last seen ")
    assert f"Karat runs at http://127.0.0.1:{house.port}/\n" in house.said()
    assert f"http://127.0.0.1:{house.port}/setup/" in house.said()
    assert "Karat has stopped.\n" in house.said()


def test_what_up_makes_is_closed_to_others(tmp_path):
    with running(tmp_path / "data"):
        modes = {
            str(path.relative_to(tmp_path)): path.stat().st_mode & 0o077
            for path in [tmp_path / "data", *(tmp_path / "data").glob("broker/**/"), tmp_path / "data/secret-key"]
        }

    assert set(modes) >= {"data", "data/broker", "data/broker/messages", "data/broker/control"}
    assert [name for name, open_to_others in modes.items() if open_to_others] == []


def test_nothing_is_left_when_up_itself_is_killed(tmp_path):
    with running(tmp_path / "data") as house:
        pids = house.descendants()
        assert len(pids) >= 6

        house.process.kill()

        assert all_gone(pids), alive(pids)


def test_a_worker_that_dies_is_started_again(tmp_path):
    with running(tmp_path / "data") as house:
        worker = next(pid for pid in house.descendants() if is_worker(pid))

        os.killpg(worker, signal.SIGKILL)

        wait_for(lambda: "The worker ended and is started again." in house.said(), house)
        wait_for(lambda: [p for p in house.descendants() if is_worker(p) and p != worker], house)
        assert house.health()["status"] == "ok"


def is_worker(pid: int) -> bool:
    """The worker's main process: leader of a group, and silent on its standard output."""
    return os.getpgid(pid) == pid and Path(f"/proc/{pid}/fd/1").readlink() == Path("/dev/null")


def refused(*arguments: str, data_dir: Path) -> subprocess.CompletedProcess:
    environment = {name: value for name, value in os.environ.items() if name not in OURS}
    return subprocess.run(
        [*UP, "--data-dir", str(data_dir), *arguments],
        cwd=REPO,
        env=environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )


def test_a_port_that_is_taken_is_said_in_one_sentence_with_the_cure(tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]

        answer = refused("--port", str(port), data_dir=tmp_path / "data")

    assert (answer.returncode, answer.stdout) == (2, "")
    assert answer.stderr == f"Port {port} is taken. Stop what listens there, or choose another: --port {port + 1}\n"


def test_a_folder_that_cannot_be_written_is_said_in_one_sentence_with_the_cure(tmp_path):
    (tmp_path / "data").write_text("a file, not a folder")

    answer = refused("--port", str(free_port()), data_dir=tmp_path / "data")

    assert (answer.returncode, answer.stdout) == (2, "")
    assert answer.stderr == (
        f"The data directory {tmp_path / 'data'} cannot be written to (File exists). "
        "Make room or give the rights, or choose another one: --data-dir ~/karat-data\n"
    )


def test_a_second_up_on_the_same_folder_is_refused(tmp_path):
    with running(tmp_path / "data") as house:
        answer = refused("--port", str(free_port()), data_dir=tmp_path / "data")

        assert (answer.returncode, answer.stderr.split(".")[0]) == (
            2,
            f"Karat already runs on {tmp_path / 'data'} (process {house.process.pid})",
        )


def test_data_of_a_newer_version_is_refused_and_left_alone(tmp_path):
    with running(tmp_path / "data") as house:
        house.process.send_signal(signal.SIGINT)
        house.process.wait(15)
    database = tmp_path / "data" / "karat.sqlite3"
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute(
            "INSERT INTO django_migrations (app, name, applied) VALUES ('corpus', '9999_later', '2027-01-01')"
        )

    answer = refused("--port", str(free_port()), data_dir=tmp_path / "data")

    assert answer.returncode == 2
    assert answer.stderr.startswith(
        f"The data in {tmp_path / 'data'} was written by a newer Karat (corpus 9999_later)."
    )
