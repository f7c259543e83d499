"""Celery's worker, which does one job at a time, and what it does beside."""

import logging
import os
import threading
import time
import warnings
from collections.abc import Callable
from functools import partial

from celery import Celery, bootsteps
from celery.platforms import SecurityWarning
from django.conf import settings
from django.db import DatabaseError, connection
from django.utils import timezone

from apps.audit.execution.sealing import has_unsealed, seal_all
from apps.jobs.execution import periodic
from apps.jobs.execution.outbox import deliver_due
from apps.jobs.execution.sweep import beat, close_abandoned, jobs_to_nudge, nudge
from apps.jobs.execution.tasks import worker_name

log = logging.getLogger(__name__)

REPEAT_SECONDS = 5.0
STOP_SECONDS = 3.0


def run_worker(app: Celery, *, loglevel: str) -> int:
    """Run one worker until it is stopped, and return its exit code.

    It has no gossip with other workers: they share their state in the database. Celery's command line would start the
    same worker, with an interactive shell loaded.
    """
    warnings.filterwarnings("ignore", category=SecurityWarning)  # who starts Karat is the choice of the operator
    os.environ.setdefault("CELERY_SKIP_CHECKS", "1")  # of our code, which the tests have checked
    worker = app.Worker(quiet=True, without_gossip=True, without_mingle=True, without_heartbeat=True, loglevel=loglevel)
    worker.start()
    return int(worker.exitcode or 0)


class Housekeeping(bootsteps.StartStopStep):
    """What every worker does again and again beside its job, each in a thread of its own, so that nothing keeps it."""

    requires = ("celery.worker.components:Pool",)

    def __init__(self, parent, **options) -> None:
        self.works: list[Repeated] = []
        super().__init__(parent, **options)

    def start(self, parent) -> None:
        self.works = [
            Repeated(partial(sweep, worker_name()), every=settings.JOB_SWEEP_SECONDS),
            Repeated(Seal(), every=REPEAT_SECONDS),
            Repeated(deliver_mail, every=REPEAT_SECONDS),
            Repeated(do_periodic_tasks, every=REPEAT_SECONDS),
        ]
        for work in self.works:
            work.start()

    def stop(self, parent) -> None:
        for work in self.works:
            work.stopped.set()
        end = time.monotonic() + STOP_SECONDS
        for work in self.works:
            work.join(max(0.0, end - time.monotonic()))

    terminate = stop


class Repeated(threading.Thread):
    """Does its work every so many seconds until it is stopped, with a new connection each time."""

    def __init__(self, work: Callable[[], None], *, every: float) -> None:
        super().__init__(daemon=True)
        self.work = work
        self.every = every
        self.stopped = threading.Event()

    def run(self) -> None:
        while not self.stopped.is_set():
            self.do()
            self.stopped.wait(self.every)

    def do(self) -> None:
        try:
            self.work()
        except DatabaseError as problem:
            log.warning("What a worker does again and again could not reach the database: %s", problem)
        except Exception:
            log.exception("What a worker does again and again failed. It is done again in %s s.", self.every)
        finally:
            connection.close()


def sweep(worker: str) -> None:
    """Store that the worker lives, and wake workers for jobs that nobody does."""
    beat(worker)
    close_abandoned(at=timezone.now())
    for job_id in jobs_to_nudge():
        nudge(job_id)


class Seal:
    """Seals new records; the first time it looks at all of them."""

    def __init__(self) -> None:
        self.is_first = True

    def __call__(self) -> None:
        if self.is_first or has_unsealed():
            seal_all(from_the_start=self.is_first)
        self.is_first = False


def deliver_mail() -> None:
    deliver_due(at=timezone.now())


def do_periodic_tasks() -> None:
    for name in periodic.due():
        periodic.do(name, at=timezone.now())
