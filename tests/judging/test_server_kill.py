"""A real server, killed with -9 in the middle of grading: what was acknowledged is there, once, and quotas hold."""

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from datetime import timedelta
from pathlib import Path

import pytest
from django.db import connection
from django.utils import timezone

from apps.accounts import actions as accounts
from apps.accounts.enums import Scope
from apps.judging.models import Judgement, Seat
from tests.judging.factories import make_round, people_of
from tests.judging.test_many_hands import check_exact

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]

REPO = Path(__file__).resolve().parent.parent.parent
PATIENCE = 120
KILLS = 3


class Server:
    """gunicorn on a free port and on the test's database, in a process group of its own."""

    def __init__(self, folder: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.folder = folder
        self.process: subprocess.Popen | None = None

    def start(self) -> None:
        bind = f"127.0.0.1:{self.port}"
        arguments = ["-b", bind, "-w", "2", "-k", "gthread", "--threads", "4", "--log-level", "error"]
        env = {
            **os.environ,
            "DATABASE_URL": database_url(),
            "KARAT_DATA_DIR": str(self.folder),
            "SECRET_KEY": "a-key-for-this-test-and-for-nothing-else-at-all",
            "DJANGO_SETTINGS_MODULE": "apps.config.settings",
        }
        command = [sys.executable, "-m", "gunicorn", "apps.config.wsgi:application", *arguments]
        with (self.folder / "server.log").open("ab") as log:
            self.process = subprocess.Popen(
                command, cwd=REPO, env=env, start_new_session=True, stdout=log, stderr=subprocess.STDOUT
            )
        wait_for(lambda: self._answers())

    def _answers(self) -> bool:
        try:
            socket.create_connection(("127.0.0.1", self.port), 1).close()
        except OSError:
            return False
        return True

    @property
    def log(self) -> str:
        """The end of what the server said."""
        return (self.folder / "server.log").read_text()[-4_000:]

    def kill(self) -> None:
        """-9 for the master and its workers, at once: nobody gets to finish anything."""
        assert self.process is not None
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(10)


def database_url() -> str:
    settings = connection.settings_dict
    if connection.vendor == "sqlite":
        return f"sqlite:///{settings['NAME']}"
    who = f"{settings['USER']}:{settings['PASSWORD']}" if settings["PASSWORD"] else settings["USER"]
    return f"postgres://{who}@{settings['HOST']}:{settings['PORT'] or 5432}/{settings['NAME']}"


def wait_for(is_so, seconds: float = 30) -> None:
    end = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.05)


class Client(threading.Thread):
    """An annotator's browser: asks for pairs, sends each grade under one key until it is acknowledged."""

    def __init__(self, number: int, port: int, path: str, token: str) -> None:
        super().__init__(daemon=True)
        self.number, self.port, self.path = number, port, path
        self.headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        self.acknowledged: dict[str, dict] = {}
        self.doubled: list[str] = []
        self.retries = 0
        self.fault = ""

    def run(self) -> None:
        try:
            while pairs := self.ask("GET", "pairs/?n=3")["pairs"]:
                for pair in pairs:
                    self.grade(pair["seat"])
        except Exception as fault:
            self.fault = repr(fault)

    def grade(self, seat: int) -> None:
        key = f"{self.number}-{seat}"
        body = {"seat": seat, "grade": (seat + self.number) % 4, "idempotency_key": key}
        answer = self.ask("POST", "judgements/", body)
        if key in self.acknowledged:
            self.doubled.append(key)
        self.acknowledged[key] = answer

    def ask(self, method: str, what: str, body: dict | None = None) -> dict:
        """Send until there is an answer: a killed server gives none, and nobody knows what it had done."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            link = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
            try:
                link.request(method, self.path + what, json.dumps(body) if body else None, self.headers)
                response = link.getresponse()
                text = response.read()
                assert response.status in (200, 201), (response.status, text[:500])
                return json.loads(text)
            except (OSError, http.client.HTTPException, json.JSONDecodeError):
                self.retries += 1
                time.sleep(0.05)
            finally:
                link.close()
        raise AssertionError("the server never answered")


@pytest.fixture
def server(tmp_path):
    server = Server(tmp_path)
    server.start()
    yield server
    server.kill()


def test_no_acknowledged_grade_is_lost_or_doubled(server):
    round_ = make_round(queries=6, blocks=25, annotators=6, overlap=0.5, judges=3)
    planned = list(Seat.objects.filter(round=round_).values_list("entry", flat=True))
    path = f"/api/v1/projects/{round_.project.slug}/judging/rounds/{round_.pk}/"
    clients = [Client(n, server.port, path, token_of(round_, p)) for n, p in enumerate(people_of(round_))]
    for client in clients:
        client.start()

    for kill in range(1, KILLS + 1):
        goal = len(planned) * kill // (KILLS + 1)
        wait_for(lambda goal=goal: acknowledged(clients) >= goal or not alive(clients), PATIENCE)
        server.kill()
        time.sleep(0.3)
        server.start()
    for client in clients:
        client.join(PATIENCE)

    assert [client.fault for client in clients if client.fault] == [], server.log
    assert sum(client.retries for client in clients) > 0
    check_exact(round_, planned)
    kept = {j.pk: (j.idempotency_key, j.seat_id, j.grade) for j in Judgement.objects.all()}
    answers = [(key, answer) for client in clients for key, answer in client.acknowledged.items()]
    assert len(kept) == len(answers) == len(planned)
    for key, answer in answers:
        assert kept[answer["id"]] == (key, answer["seat"], answer["grade"])
    assert [client.doubled for client in clients if client.doubled] == []


def token_of(round_, person) -> str:
    scopes, now = [Scope.JUDGING_WRITE], timezone.now()
    return accounts.create_token(
        project=round_.project, user=person, name="test", scopes=scopes, at=now, lasts=timedelta(days=2)
    )[1]


def acknowledged(clients) -> int:
    return sum(len(client.acknowledged) for client in clients)


def alive(clients) -> bool:
    return any(client.is_alive() for client in clients)
