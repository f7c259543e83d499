"""Real worker processes on the test's own database, with a broker of their own."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType

from celery import Celery
from django.conf import settings
from django.db import connection

from tests.conftest import REPO

# Each process of a parallel run has a Redis database of its own.
_NUMBER = 6 + int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")) % 10
REDIS = f"{os.environ.get('KARAT_TEST_REDIS', 'redis://127.0.0.1:6379')}/{_NUMBER}"
PATIENCE = 300.0
"""Seconds that only a test which fails waits for: a busy machine makes workers slow, not wrong."""


class Workers:
    """Starts, freezes and kills workers; sends them nudges, and worse."""

    def __init__(self, data_dir: Path, broker_url: str, settings: Mapping[str, str] = MappingProxyType({})) -> None:
        self.data_dir = data_dir
        self.broker_url = broker_url
        self.processes: list[subprocess.Popen] = []
        self.environment = {
            **os.environ,
            "KARAT_DATA_DIR": str(data_dir),
            "DATABASE_URL": database_url(),
            "BROKER_URL": broker_url,
            "KARAT_JOB_LEASE": "2",
            "KARAT_JOB_SWEEP": "0.3",
            "KARAT_LOG_LEVEL": "ERROR",
            "CELERY_SKIP_CHECKS": "1",  # the same ones each time, and most of a worker's start
            **settings,
        }

    def start(self) -> subprocess.Popen:
        command = [sys.executable, "-m", "celery", "-A", "apps.config.celery", "worker", "-l", "ERROR"]
        command += ["--without-gossip", "--without-mingle", "--without-heartbeat"]
        command += ["-n", f"w{len(self.processes)}@test", "-I", "tests.jobs.kinds"]
        log = (self.data_dir / f"worker-{len(self.processes)}.log").open("wb")
        process = subprocess.Popen(
            command, cwd=REPO, env=self.environment, stdout=log, stderr=log, start_new_session=True
        )
        self.processes.append(process)
        return process

    def signal(self, process: subprocess.Popen, number: signal.Signals) -> None:
        if process.poll() is None:
            process.send_signal(number)

    def kill(self, process: subprocess.Popen) -> None:
        self.signal(process, signal.SIGKILL)
        process.wait(10)

    def stop(self) -> None:
        for process in self.processes:
            self.signal(process, signal.SIGCONT)
            self.kill(process)

    def logs(self) -> str:
        return "\n".join(path.read_text(errors="replace") for path in sorted(self.data_dir.glob("*.log")))

    @contextmanager
    def sender(self) -> Iterator[Celery]:
        """A stranger on the same broker."""
        folder = str(self.data_dir / "broker" / "messages")
        control = str(self.data_dir / "broker" / "control")
        app = Celery("stranger", broker=self.broker_url, set_as_current=False)
        app.conf.task_default_queue = settings.CELERY_TASK_DEFAULT_QUEUE
        if self.broker_url.startswith("filesystem"):
            Path(folder).mkdir(parents=True, exist_ok=True)
            app.conf.broker_transport_options = {
                "data_folder_in": folder,
                "data_folder_out": folder,
                "control_folder": control,
            }
        try:
            yield app
        finally:
            app.close()


def database_url() -> str:
    """Where the test's own database is, for another process."""
    values = connection.settings_dict
    if connection.vendor == "sqlite":
        return f"sqlite:///{values['NAME']}"
    login = values["USER"] + (f":{values['PASSWORD']}" if values["PASSWORD"] else "")
    return f"postgres://{login}@{values['HOST']}:{values['PORT'] or 5432}/{values['NAME']}"


def wait_until(true: Callable[[], bool], what: str, *, patience: float = PATIENCE) -> None:
    end = time.monotonic() + patience
    while time.monotonic() < end:
        if true():
            return
        time.sleep(0.05)
    raise AssertionError(f"{what} did not happen in {patience:.0f} s")
