"""A real web server on the test's database that can be killed and started again."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType

from django.db import connection

REPO = Path(__file__).resolve().parent.parent.parent


class Server:
    """Karat's web server on a free port and on the test's database, in a process group of its own."""

    def __init__(self, folder: Path, settings: Mapping[str, str] = MappingProxyType({})) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.folder = folder
        self.settings = settings
        self.process: subprocess.Popen | None = None

    def start(self) -> None:
        env = {
            **os.environ,
            "DATABASE_URL": database_url(),
            "KARAT_DATA_DIR": str(self.folder),
            "SECRET_KEY": "a-key-for-this-test-and-for-nothing-else-at-all",
            "DJANGO_SETTINGS_MODULE": "apps.config.settings",
            **self.settings,
        }
        command = [sys.executable, "manage.py", "web", "--port", str(self.port)]
        with (self.folder / "server.log").open("ab") as log:
            self.process = subprocess.Popen(
                command, cwd=REPO, env=env, start_new_session=True, stdout=log, stderr=subprocess.STDOUT
            )
        wait_for(self._answers)

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
        """-9: nobody gets to finish anything."""
        assert self.process is not None
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(10)
        wait_for(lambda: not self._answers())


def database_url() -> str:
    settings = connection.settings_dict
    if connection.vendor == "sqlite":
        return f"sqlite:///{settings['NAME']}"
    who = f"{settings['USER']}:{settings['PASSWORD']}" if settings["PASSWORD"] else settings["USER"]
    return f"postgres://{who}@{settings['HOST']}:{settings['PORT'] or 5432}/{settings['NAME']}"


def wait_for(is_so: Callable[[], bool], seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.05)
