"""The two servers behind `karat up` and `karat worker`: gunicorn for pages, Celery for jobs."""

import os
import sys
import warnings
from typing import Any

from celery.platforms import SecurityWarning
from gunicorn.app.base import BaseApplication

from apps.config import sharing
from apps.config.celery import app
from apps.jobs.execution.worker import run_worker

WEB_WORKER = "apps.config.serving.worker.Worker"
WORKER_ENDED = "apps.config.serving.worker.has_ended"
WEB_PROCESSES = 2
WEB_THREADS = 8
IDLE_SECONDS = 15
WORKER_PROCESSES = 2


class Web(BaseApplication):
    """gunicorn on an open socket."""

    def __init__(self, application: Any, fileno: int) -> None:
        self.application = application
        self.fileno = fileno
        super().__init__()

    def load_config(self) -> None:
        options = {
            "bind": f"fd://{self.fileno}",
            "worker_class": WEB_WORKER,
            "workers": WEB_PROCESSES,
            "threads": WEB_THREADS,
            "preload_app": True,
            "keepalive": IDLE_SECONDS,
            "timeout": 60,
            "graceful_timeout": 4,
            "loglevel": "warning",
            "control_socket_disable": True,
            "child_exit": WORKER_ENDED,
            "proc_name": "karat-web",
        }
        for name, value in options.items():
            self.cfg.set(name, value)

    def load(self) -> Any:
        return self.application


def serve_web(application: Any, fileno: int) -> None:
    sharing.load_all()
    sharing.cache_little()
    sharing.freeze()
    Web(application, fileno).run()


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
