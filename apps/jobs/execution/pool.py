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
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any, NoReturn

from billiard.context import Process
from billiard.einfo import ExceptionInfo
from billiard.exceptions import Terminated, WorkerLostError
from celery.concurrency.base import BasePool
from celery.concurrency.prefork import process_initializer
from celery.exceptions import SoftTimeLimitExceeded

log = logging.getLogger(__name__)

LOOK_SECONDS = 1.0
"""How often a thread sees whether its process has ended. Usually it is told at once."""
PAUSE_SECONDS = 1.0
"""After a fork that failed: the task comes again."""
WAS_DONE = (0, None, 0.0)
"""What Celery is told of every task that came to its end: jobs keep their own record, and nobody asks for results."""

Told = Callable[..., object]


class TaskPool(BasePool):
    """Celery's name for a pool. Up to `limit` threads fork a process each and wait for its end."""

    limit: int
    body_can_be_buffer = True
    signal_safe = False

    def on_start(self) -> None:
        self._threads = ThreadPoolExecutor(self.limit, thread_name_prefix="task", initializer=_hold_back)
        self._forking = threading.Lock()
        self._pids: set[int] = set()
        self._terminated: set[int] = set()

    def on_stop(self) -> None:
        """Wait for the tasks that run."""
        self._threads.shutdown(cancel_futures=True)

    def on_terminate(self) -> None:
        for pid in [*self._pids]:
            self.terminate_job(pid)
        self._threads.shutdown(cancel_futures=True)

    def terminate_job(self, pid: int, number: int | None = None) -> None:
        with self._forking:
            if pid in self._pids:
                self._terminated.add(pid)
                with suppress(ProcessLookupError):
                    os.kill(pid, number or signal.SIGTERM)

    def on_apply(self, target: Callable[..., Any], args: Any, kwargs: Any, **told: Any) -> None:
        self._threads.submit(self._run, Process(target=self._work, args=(target, args, kwargs)), **told)

    def _run(
        self,
        child: Process,
        *,
        accept_callback: Told,
        timeout_callback: Told,
        callback: Told,
        error_callback: Told,
        soft_timeout: float | None = None,
        timeout: float | None = None,
        **_: object,
    ) -> None:
        """Fork, wait, and tell Celery."""
        try:
            if not self._start(child):
                error_callback(_lost("could not be started"))
                return
            begun = time.monotonic()
            accept_callback(child.pid, begun)
            soft = soft_timeout or self.options.get("soft_timeout")
            hard = timeout or self.options.get("timeout")
            if soft and not _ends(child, begun + soft):
                _signal(child, signal.SIGUSR1)
                timeout_callback(True, soft)
            if not _ends(child, begun + hard if hard else None):
                _signal(child, signal.SIGKILL)
                _ends(child, None)
                timeout_callback(False, hard)
            elif child.exitcode == 0:
                callback(WAS_DONE)
            elif child.pid in self._terminated:
                error_callback(_info(Terminated(-child.exitcode)))
            else:
                error_callback(_lost(f"ended with {child.exitcode}"))
        except Exception:
            log.exception("What became of a task could not be stored. It may be done again.")
        finally:
            self._forget(child)

    def _start(self, child: Process) -> bool:
        """One at a time: a process forked meanwhile would hold the pipe by which the end of this one is seen."""
        with self._forking:
            try:
                child.start()
            except OSError as problem:
                log.error("No process could be started for a task: %s", problem)
            else:
                self._pids.add(child.pid)
                return True
        time.sleep(PAUSE_SECONDS)
        return False

    def _forget(self, child: Process) -> None:
        with self._forking:
            self._pids.discard(child.pid)
            self._terminated.discard(child.pid)

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


def _hold_back() -> None:
    """A forked process inherits that the signal of the time limit waits, until it knows what to do with it."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})


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
