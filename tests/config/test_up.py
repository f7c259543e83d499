"""`karat up` as people run it: a process of its own, on a free port, in an empty folder."""

import json
import os
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import pytest

from tests.conftest import REPO

pytestmark = [pytest.mark.slow, pytest.mark.once]

HEALTH_TOKEN = "sesame-open-3"
METRICS_TOKEN = "watch-me-please"
PATIENCE = 60
PROCESSES = 2  # the web server and the worker
UP = [sys.executable, "manage.py", "up", "--no-setup", "--no-demo"]
OURS = {"KARAT_DATA_DIR", "KARAT_DEMO", "DATABASE_URL", "BROKER_URL"}


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
        environment |= {"KARAT_HEALTH_TOKEN": HEALTH_TOKEN, "KARAT_METRICS_TOKEN": METRICS_TOKEN}
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
            return json.loads(self.read("/healthz", HEALTH_TOKEN))
        except OSError:
            return None

    def read(self, path: str, token: str) -> str:
        headers = {"Authorization": f"Bearer {token}"}
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", headers=headers)
        with urllib.request.urlopen(request, timeout=5) as answer:
            return answer.read().decode()

    def descendants(self) -> list[int]:
        return descendants_of(self.process.pid)

    def wait_for_worker(self) -> dict:
        wait_for(lambda: len(self.descendants()) >= PROCESSES, self)
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


@dataclass
class Story:
    """One life of a house in an empty folder, from the first start to Ctrl-C."""

    data_dir: Path
    port: int
    pid: int
    health: dict
    ready: dict
    metrics: str
    second: subprocess.CompletedProcess
    code: int
    left: list[int]
    said: str


@pytest.fixture(scope="module")
def story(tmp_path_factory) -> Story:
    data_dir = tmp_path_factory.mktemp("up") / "data"
    with running(data_dir) as house:
        pids = house.descendants()
        health = house.health()
        ready, metrics = json.loads(house.read("/readyz", "none")), house.read("/metrics", METRICS_TOKEN)
        second = refused("--port", str(free_port()), data_dir=data_dir)
        house.process.send_signal(signal.SIGINT)
        code = house.process.wait(PATIENCE)
        left = [] if all_gone(pids) else alive(pids)
    return Story(data_dir, house.port, house.process.pid, health, ready, metrics, second, code, left, house.said())


@pytest.fixture
def data_dir(story, tmp_path) -> Path:
    """A folder that Karat has run in before."""
    return Path(shutil.copytree(story.data_dir, tmp_path / "data"))


def test_up_starts_everything(story):
    health = story.health
    assert (health["status"], health["karat"], health["database"]["engine"]) == ("ok", "0.1.0", "SQLite")
    assert story.ready == {"status": "ready"}
    assert story.health["worker"].startswith("worker last seen ")
    assert f"Karat runs at http://127.0.0.1:{story.port}/\n" in story.said
    assert f"http://127.0.0.1:{story.port}/setup/" in story.said


def test_one_scrape_has_what_the_web_process_has_counted_and_when_the_worker_was_seen(story):
    lines = [line.rpartition(" ") for line in story.metrics.splitlines() if not line.startswith("#")]
    found = {name: float(value) for name, _, value in lines}

    assert found["karat_web_threads"] == 8
    assert found['karat_requests_total{status="2xx",view="healthz"}'] > 0
    assert 'karat_requests_total{status="2xx",view="accounts:login"}' not in found  # asked before the start, by nobody
    assert found["karat_worker_last_seen_seconds"] < 60


def test_ctrl_c_stops_all_of_it(story):
    assert (story.code, story.left) == (0, []), story.said
    assert story.said.endswith("Karat has stopped.\n")


def test_what_up_makes_is_closed_to_others(story):
    places = [story.data_dir, *story.data_dir.glob("broker/**/"), story.data_dir / "secret-key"]

    modes = {str(place.relative_to(story.data_dir)): place.stat().st_mode & 0o077 for place in places}

    assert modes == {".": 0, "broker": 0, "broker/messages": 0, "broker/control": 0, "secret-key": 0}


def test_a_second_up_on_the_same_folder_is_refused(story):
    assert story.second.returncode == 2
    assert story.second.stderr.startswith(f"Karat already runs on {story.data_dir} (process {story.pid}).")


def test_nothing_is_left_when_up_itself_is_killed(data_dir):
    with running(data_dir) as house:
        pids = house.descendants()
        assert len(pids) >= PROCESSES

        house.process.kill()

        assert all_gone(pids), alive(pids)


def test_a_worker_that_dies_is_started_again_and_sigterm_ends_the_new_one_too(data_dir):
    with running(data_dir) as house:
        wait_for(lambda: alive([worker_of(data_dir)]), house)
        worker = worker_of(data_dir)

        os.killpg(worker, signal.SIGKILL)

        wait_for(lambda: "The worker ended and is started again." in house.said(), house)
        wait_for(lambda: worker_of(data_dir) != worker, house)
        assert house.health()["status"] == "ok"
        pids = house.descendants()
        house.process.send_signal(signal.SIGTERM)
        assert house.process.wait(PATIENCE) == 0
        assert all_gone(pids), alive(pids)


def test_without_a_mail_server_mail_is_written_where_up_runs(data_dir):
    with running(data_dir) as house:
        with closing(sqlite3.connect(data_dir / "karat.sqlite3", timeout=30)) as connection, connection:
            connection.execute(
                "INSERT INTO jobs_outbox (delivery_id, kind, payload, state, attempts, error, next_at, created_at)"
                " VALUES (?, 'mail', ?, 'waiting', 0, '', '2026-01-01 00:00:00', '2026-01-01 00:00:00')",
                [uuid4().hex, json.dumps({"to": ["ann@x.test"], "subject": "Hello", "body": "A-MAIL"})],
            )

        wait_for(lambda: "A-MAIL" in house.said(), house)
        assert "Subject: Hello" in house.said()


def worker_of(data_dir: Path) -> int:
    """The process of the worker that began last."""
    with closing(sqlite3.connect(data_dir / "karat.sqlite3", timeout=30)) as connection:
        (name,) = connection.execute("SELECT worker FROM jobs_workerbeat ORDER BY started_at DESC").fetchone()
    return int(name.rpartition(":")[2])


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


def test_in_production_a_page_is_there_with_its_icon_and_styles(data_dir, monkeypatch):
    for name, value in {"KARAT_PRODUCTION": "1", "KARAT_HTTPS": "0", "SECRET_KEY": uuid4().hex + uuid4().hex}.items():
        monkeypatch.setenv(name, value)
    with running(data_dir) as house:
        page = wait_for(lambda: house.health() and house.read("/login/", ""), house)
        [icon, *_] = re.findall(r"/static/[^\s\">]+\.svg", page)
        [style, *_] = re.findall(r"/assets/[^\s\">]+\.css", page)

        assert house.read(icon, "")
        assert house.read(style, "")


def test_a_port_that_is_taken_and_a_folder_that_cannot_be_written_are_each_one_sentence_with_the_remedy(tmp_path):
    no_folder = tmp_path / "file"
    no_folder.write_text("a file, not a folder")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        answers = [refused("--port", str(port), data_dir=folder) for folder in (tmp_path / "data", no_folder)]

    assert [(answer.returncode, answer.stdout) for answer in answers] == [(2, "")] * 2
    assert [answer.stderr for answer in answers] == [
        f"Port {port} is taken. Stop what listens there, or choose another: --port {port + 1}\n",
        f"The data directory {no_folder} cannot be written to (File exists). "
        "Make room or give the rights, or choose another one: --data-dir ~/karat-data\n",
    ]


def test_data_of_a_newer_version_is_refused_and_left_alone(data_dir):
    with closing(sqlite3.connect(data_dir / "karat.sqlite3")) as connection, connection:
        connection.execute(
            "INSERT INTO django_migrations (app, name, applied) VALUES ('corpus', '9999_later', '2027-01-01')"
        )

    answer = refused("--port", str(free_port()), data_dir=data_dir)

    assert answer.returncode == 2
    assert answer.stderr.startswith(f"The data in {data_dir} was written by a newer Karat (corpus 9999_later).")
