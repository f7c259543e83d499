"""The commands of docker-compose.yml and the Dockerfile, run as they stand against PostgreSQL and Redis."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
import uuid
from pathlib import Path

import psycopg
import pytest
import yaml

from tests.conftest import REPO

pytestmark = [pytest.mark.postgres, pytest.mark.slow]
REDIS = os.environ.get("BROKER_URL", "")


HEALTH_TOKEN = "sesame-open-3"


@pytest.fixture
def environment(tmp_path):
    """What the compose file gives its services, with the local servers in place of its own."""
    if not REDIS.startswith("redis://"):
        pytest.skip("needs Redis: set BROKER_URL=redis://…")
    admin, name = os.environ["DATABASE_URL"], f"karat_team_{uuid.uuid4().hex[:8]}"
    with psycopg.connect(admin, autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"')
    yield {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "DJANGO_SETTINGS_MODULE": "apps.config.settings",
        "PYTHONPATH": str(REPO),
        "KARAT_PRODUCTION": "1",
        "KARAT_HEALTH_TOKEN": HEALTH_TOKEN,
        "KARAT_BEHIND_PROXY": "1",
        "KARAT_ALLOWED_HOSTS": "karat.example.org",
        "KARAT_DATA_DIR": str(tmp_path / "data"),
        "KARAT_STATIC_ROOT": str(tmp_path / "static"),
        "SECRET_KEY": uuid.uuid4().hex + uuid.uuid4().hex,
        "DATABASE_URL": admin.rsplit("/", 1)[0] + f"/{name}",
        "BROKER_URL": REDIS.rsplit("/", 1)[0] + "/11",
    }
    with psycopg.connect(admin, autocommit=True) as connection:
        connection.execute(f'DROP DATABASE "{name}" WITH (FORCE)')


def command_of(service: str) -> list[str]:
    return yaml.safe_load((REPO / "docker-compose.yml").read_text())["services"][service]["command"]


def web_command(port: int) -> list[str]:
    """The image's CMD, listening where this test can reach it."""
    lines = (REPO / "Dockerfile").read_text().splitlines()
    (line,) = [line for line in lines if line.startswith("CMD ")]
    return [*json.loads(line.removeprefix("CMD ")), "--port", str(port)]


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def health(port: int) -> dict:
    headers = {
        "X-Forwarded-Proto": "https",
        "Host": "karat.example.org",
        "Authorization": f"Bearer {HEALTH_TOKEN}",
    }
    request = urllib.request.Request(f"http://127.0.0.1:{port}/healthz", headers=headers)
    with urllib.request.urlopen(request, timeout=3) as answer:
        return json.load(answer)


def test_the_commands_of_the_team_setup_serve_and_work(environment):
    for command in (command_of("migrate"), ["python", "manage.py", "collectstatic", "--noinput", "--verbosity", "0"]):
        subprocess.run(command, env=environment, cwd=REPO, check=True, timeout=120)
    port = free_port()
    servers = [
        subprocess.Popen([shutil.which(command[0], path=environment["PATH"]), *command[1:]], env=environment, cwd=REPO)
        for command in (web_command(port), command_of("worker"))
    ]
    try:
        seen = {}
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and seen.get("worker_seconds") is None:
            time.sleep(0.5)
            try:
                seen = health(port)
            except OSError:
                continue
    finally:
        for server in servers:
            server.send_signal(signal.SIGTERM)
        ends = [server.wait(timeout=30) for server in servers]

    assert seen["status"] == "ok"
    assert seen["database"]["engine"] == "PostgreSQL"
    assert seen["worker_seconds"] is not None
    assert ends == [0, 0]
