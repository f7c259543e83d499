"""The two servers behind `karat up`: gunicorn's worker for pages, Celery for jobs."""

import os
import socket
import sys
import warnings
from functools import partial
from typing import Any

from celery.platforms import SecurityWarning
from gunicorn.app.base import BaseApplication

from apps.config import sharing
from apps.config.celery import app
from apps.config.serving.worker import crowds
from apps.config.supervisor import Supervisor
from apps.jobs.execution.worker import run_worker

WEB_WORKER = "apps.config.serving.worker.Worker"
WEB_LOG = "apps.config.serving.logs.Log"
WEB_PROCESSES = 2
WEB_THREADS = 8
IDLE_SECONDS = 15
STUCK_SECONDS = 60
WORKER_PROCESSES = 2


class Web(BaseApplication):
    """What gunicorn's worker asks for: the application and the settings. Its arbiter has no part in `karat up`."""

    def __init__(self, application: Any) -> None:
        self.application = application
        super().__init__()

    def load_config(self) -> None:
        options = {
            "worker_class": WEB_WORKER,
            "logger_class": WEB_LOG,
            "threads": WEB_THREADS,
            "keepalive": IDLE_SECONDS,
            "graceful_timeout": 4,
            "loglevel": "warning",
            "pre_request": _say_nothing,
        }
        for name, value in options.items():
            self.cfg.set(name, value)

    def load(self) -> Any:
        return self.application


def _say_nothing(_worker: Any, _request: Any) -> None:
    """Before a request gunicorn would write a line for debugging, which costs more than to parse the request."""


def start_web(supervisor: Supervisor, name: str, application: Any, listener: socket.socket) -> None:
    """Start the web processes on one open socket: whoever has fewest clients takes the next one."""
    for number in range(1, WEB_PROCESSES + 1):
        supervisor.start(
            name,
            partial(serve_web, application, listener, number),
            after_death=partial(crowds.leave, number),
            pulse=partial(crowds.pulse, number),
            stuck_seconds=STUCK_SECONDS,
        )


def serve_web(application: Any, listener: socket.socket, number: int) -> None:
    """Answer requests as the web process with this number, from 1, until SIGTERM."""
    sharing.cache_little()
    listener.setblocking(False)
    web = Web(application)
    worker = web.cfg.worker_class(
        number, os.getppid(), [listener], web, STUCK_SECONDS, web.cfg, web.cfg.logger_class(web.cfg)
    )
    worker.init_process()


def silence_banner() -> None:
    """Discard Celery's banner, but not Karat's own output: without a mail server, mail is written there."""
    terminal = os.dup(sys.stdout.fileno())
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())  # Celery writes to the stream that Python started with
    sys.stdout = os.fdopen(terminal, "w", encoding="utf-8", errors="replace", buffering=1)


def serve_worker(concurrency: int = WORKER_PROCESSES) -> None:
    """Run one worker, which by default logs errors only."""
    warnings.filterwarnings(
        "ignore", category=SecurityWarning
    )  # the user who starts `up` is the choice of the operator
    silence_banner()
    os.environ.setdefault("CELERY_SKIP_CHECKS", "1")  # of our code, which the tests have checked
    sys.exit(run_worker(app, concurrency=concurrency, loglevel=os.environ.get("KARAT_LOG_LEVEL", "ERROR")))
