"""A process for each task: forked from the worker when the task comes, and ended with it.

Celery's own pool keeps processes that wait for tasks. Python writes to what it shares as soon as it runs, so each of
them takes 30 MiB while nothing happens, and more once it has done a large job. A fork takes a few milliseconds, every
job begins in a clean process, and what it took is given back when it ends.
"""

import logging
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import Any, NoReturn

from billiard.context import Process
from billiard.einfo import ExceptionInfo
from billiard.exceptions import Terminated, WorkerLostError
from celery.concurrency.base import BasePool
from celery.concurrency.prefork import process_initializer
from celery.exceptions import SoftTimeLimitExceeded

from apps.jobs.execution.processes import no_fork

log = logging.getLogger(__name__)

LOOK_SECONDS = 1.0
"""How often a thread sees whether its process has ended. Usually it is told at once."""
PAUSE_SECONDS = 1.0
"""After a fork that failed: the task comes again."""
WAS_DONE = (0, None, 0.0)
"""What Celery is told of every task that came to its end: jobs keep their own record, and nobody asks for results."""

Told = Callable[..., object]


class TaskPool(BasePool):
    """Celery's name for a pool. Forks up to `limit` processes; a thread each waits for their ends."""

    limit: int
    body_can_be_buffer = True
    signal_safe = False

    def on_start(self) -> None:
        self._threads = ThreadPoolExecutor(self.limit, thread_name_prefix="task")
        self._free = threading.Semaphore(self.limit)
        self._changing = threading.Lock()
        self._pids: set[int] = set()
        self._terminated: set[int] = set()

    def on_stop(self) -> None:
        """Wait for the tasks that run."""
        self._threads.shutdown()

    def on_terminate(self) -> None:
        for pid in [*self._pids]:
            self.terminate_job(pid)
        self._threads.shutdown()

    def terminate_job(self, pid: int, number: int | None = None) -> None:
        with self._changing:
            if pid in self._pids:
                self._terminated.add(pid)
                with suppress(ProcessLookupError):
                    os.kill(pid, number or signal.SIGTERM)

    def on_apply(
        self,
        target: Callable[..., Any],
        args: Any,
        kwargs: Any,
        *,
        accept_callback: Told,
        error_callback: Told,
        **told: Any,
    ) -> None:
        """Fork in the thread that receives messages, when no other uses the broker (see `no_fork`).

        Waits for a free place first. Celery reserves no more messages than there are places, so it hardly ever does.
        """
        child = Process(target=self._work, args=(target, args, kwargs))
        self._free.acquire()
        if not self._start(child):
            self._free.release()
            error_callback(_lost("could not be started"))
            return
        begun = time.monotonic()
        try:
            accept_callback(child.pid, begun)
        finally:
            self._threads.submit(self._wait, child, begun, error_callback=error_callback, **told)

    def _start(self, child: Process) -> bool:
        try:
            with no_fork, _held_back(signal.SIGUSR1):
                child.start()
        except OSError as problem:
            log.error("No process could be started for a task: %s", problem)
            time.sleep(PAUSE_SECONDS)
            return False
        with self._changing:
            self._pids.add(child.pid)
        return True

    def _wait(
        self,
        child: Process,
        begun: float,
        *,
        timeout_callback: Told,
        callback: Told,
        error_callback: Told,
        soft_timeout: float | None = None,
        timeout: float | None = None,
        **_: object,
    ) -> None:
        """Wait for the end of a process, and tell Celery."""
        try:
            soft = soft_timeout or self.options.get("soft_timeout")
            hard = timeout or self.options.get("timeout")
            if soft and not _ends(child, begun + soft):
                _signal(child, signal.SIGUSR1)
                _tell(timeout_callback, True, soft)
            if not _ends(child, begun + hard if hard else None):
                _signal(child, signal.SIGKILL)
                _ends(child, None)
                _tell(timeout_callback, False, hard)
            elif child.exitcode == 0:
                _tell(callback, WAS_DONE)
            elif child.pid in self._terminated:
                _tell(error_callback, _info(Terminated(-child.exitcode)))
            else:
                _tell(error_callback, _lost(f"ended with {child.exitcode}"))
        except Exception:
            log.exception("What became of a task could not be stored. It may be done again.")
        finally:
            with self._changing:
                self._pids.discard(child.pid)
                self._terminated.discard(child.pid)
            self._free.release()

    def _work(self, target: Callable[..., Any], args: Any, kwargs: Any) -> None:
        """In the new process."""
        process_initializer(self.app, self.options["initargs"][1])
        signal.signal(signal.SIGUSR1, _stop_in_time)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGUSR1})
        target(*args, **kwargs)


def _ends(child: Process, until: float | None) -> bool:
    """Wait until the process has ended, or the clock shows `until`; whether it has ended."""
    while child.exitcode is None:
        left = LOOK_SECONDS if until is None else until - time.monotonic()
        if left <= 0:
            return False
        child.join(min(left, LOOK_SECONDS))
    child.join()
    return True


def _signal(child: Process, number: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        os.kill(child.pid, number)


@contextmanager
def _held_back(number: signal.Signals) -> Iterator[None]:
    """A process forked meanwhile inherits that the signal waits, until it knows what to do with it."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {number})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _tell(told: Told, *how: object) -> None:
    """Celery acknowledges the message in the thread that tells it."""
    with no_fork:
        told(*how)


def _stop_in_time(number: int, frame: object) -> NoReturn:
    raise SoftTimeLimitExceeded


def _lost(what: str) -> ExceptionInfo:
    return _info(WorkerLostError(f"The process of a task {what}."))


def _info(problem: Exception) -> ExceptionInfo:
    """The problem as Celery wants it told: as it was caught."""
    try:
        raise problem
    except type(problem):
        return ExceptionInfo()
