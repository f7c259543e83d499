"""The sweep loop that runs inside every Celery worker, as a part (bootstep) of it."""

import logging
import threading
import time

from celery import Celery, bootsteps
from celery.signals import worker_process_init
from django.conf import settings
from django.db import DatabaseError, connection
from django.utils import timezone

from apps.audit.execution.sealing import has_unsealed
from apps.audit.execution.tasks import seal
from apps.jobs.execution import periodic
from apps.jobs.execution.nudging import nudge
from apps.jobs.execution.processes import die_with_parent, no_fork, worker_name
from apps.jobs.execution.sweep import beat, close_abandoned, has_due_mail, jobs_to_nudge
from apps.jobs.execution.tasks import deliver_outbox, run_periodic_task

log = logging.getLogger(__name__)

BEAT_SECONDS = 5.0
TASK_EVERY_SECONDS = 5.0


def run_worker(app: Celery, *, concurrency: int, loglevel: str) -> int:
    """Run one worker until it is stopped, and return its exit code.

    It has no gossip with other workers: they share their state in the database. Celery's command line would start the
    same worker, with an interactive shell loaded into each of its processes.
    """
    worker = app.Worker(
        concurrency=concurrency,
        without_gossip=True,
        without_mingle=True,
        without_heartbeat=True,
        loglevel=loglevel,
    )
    worker.start()
    return int(worker.exitcode or 0)


@worker_process_init.connect
def _end_with_worker(**kwargs: object) -> None:
    """Make child processes end with the worker, so that none continues a job after the worker is killed."""
    die_with_parent()


class SweepStep(bootsteps.StartStopStep):
    """Sweeps in a thread as long as the worker lives, also while all its processes are busy."""

    requires = ("celery.worker.components:Pool",)

    def __init__(self, parent, **options) -> None:
        self.stopped = threading.Event()
        self.thread: threading.Thread | None = None
        super().__init__(parent, **options)

    def start(self, parent) -> None:
        self.thread = threading.Thread(target=Sweeper(self.stopped).run, name="sweep", daemon=True)
        self.thread.start()

    def stop(self, parent) -> None:
        self.stopped.set()
        if self.thread is not None:
            self.thread.join(timeout=5)

    terminate = stop


class Sweeper:
    def __init__(self, stopped: threading.Event) -> None:
        self.stopped = stopped
        self.worker = worker_name()
        self.next_beat = 0.0
        self.next_task = 0.0
        self.is_first = True

    def run(self) -> None:
        while not self.stopped.is_set():
            try:
                self.sweep()
            except DatabaseError as problem:
                log.warning("This sweep could not reach the database: %s", problem)
            except Exception:
                log.exception("This sweep failed. The next one follows.")
            self.stopped.wait(settings.JOB_SWEEP_SECONDS)

    def sweep(self) -> None:
        with no_fork:
            try:
                ids, tasks = self._look()
            finally:
                connection.close()
        for job_id in ids:
            with no_fork:
                nudge(job_id)
        for task, options in tasks:
            with no_fork:
                task.apply_async(kwargs=options, retry=False, expires=2 * TASK_EVERY_SECONDS)

    def _look(self) -> tuple[list[int], list[tuple]]:
        now = time.monotonic()
        if now >= self.next_beat:
            beat(self.worker)
            self.next_beat = now + BEAT_SECONDS
        close_abandoned(at=timezone.now())
        return jobs_to_nudge(), self._tasks(now)

    def _tasks(self, now: float) -> list[tuple]:
        if now < self.next_task:
            return []
        self.next_task = now + TASK_EVERY_SECONDS
        tasks: list[tuple] = []
        if self.is_first or has_unsealed():
            tasks.append((seal, {"from_the_start": self.is_first}))
        if has_due_mail():
            tasks.append((deliver_outbox, {}))
        tasks += [(run_periodic_task, {"name": name}) for name in periodic.due()]
        self.is_first = False
        return tasks
