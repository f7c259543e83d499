"""A process for each task: what happens in it, and what Celery is told of its end."""

import os
import signal
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event, RLock
from typing import Any

import pytest
from billiard.exceptions import Terminated, WorkerLostError
from celery.exceptions import SoftTimeLimitExceeded

from apps.config.celery import app
from apps.jobs.execution import pool as pools
from apps.jobs.execution.processes import no_fork

pytestmark = pytest.mark.slow

PATIENCE = 60
of_the_broker = RLock()


class Told:
    """What one task tells: its process, and how it ended."""

    def __init__(self, pool: pools.TaskPool, target: Any, *args: Any, **limits: float) -> None:
        self.pid = 0
        self.said: list[Any] = []
        self._began, self._ended = Event(), Event()
        pool.apply_async(
            target,
            args,
            accept_callback=self._begin,
            timeout_callback=self._time,
            callback=lambda answer: self._end("done"),
            error_callback=lambda info: self._end(type(info.exception.exc)),
            **limits,
        )

    def began(self) -> "Told":
        assert self._began.wait(PATIENCE)
        return self

    def ended(self) -> "Told":
        assert self._ended.wait(PATIENCE)
        return self

    def _begin(self, pid: int, at: float) -> None:
        self.pid = pid
        self._began.set()

    def _time(self, soft: bool, seconds: float) -> None:
        self.said.append("too long" if soft else "much too long")
        if not soft:
            self._ended.set()

    def _end(self, how: Any) -> None:
        self.said.append(how)
        self._ended.set()


@pytest.fixture
def pool() -> Iterator[pools.TaskPool]:
    pool = pools.TaskPool(2, app=app, initargs=(app, "w@test"))
    pool.start()
    yield pool
    pool.terminate()


def is_there(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()


def write(path: Path, text: str) -> None:
    path.write_text(text)


def sleep(path: Path) -> None:
    time.sleep(PATIENCE)


def sleep_until_stopped(path: Path) -> None:
    try:
        path.write_text("asleep")
        time.sleep(PATIENCE)
    except SoftTimeLimitExceeded:
        path.write_text("stopped")


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def use_the_broker() -> None:
    if not of_the_broker.acquire(timeout=5):
        die()


def test_each_task_is_done_in_a_process_of_its_own_that_is_gone_afterwards(pool, tmp_path):
    tasks = [Told(pool, write, tmp_path / str(number), "done") for number in range(3)]

    said = [task.ended().said for task in tasks]

    assert said == [["done"]] * 3
    assert [path.read_text() for path in tmp_path.iterdir()] == ["done"] * 3
    assert len({os.getpid(), *(task.pid for task in tasks)}) == 4
    assert not any(is_there(task.pid) for task in tasks)


def test_no_more_tasks_run_at_once_than_the_worker_was_told(pool, tmp_path):
    first, _second = (Told(pool, sleep, tmp_path / str(number)).began() for number in range(2))

    with ThreadPoolExecutor(1) as messages:
        third = messages.submit(Told, pool, sleep, tmp_path / "2")
        with pytest.raises(TimeoutError):
            third.result(timeout=0.2)
        pool.terminate_job(first.pid)

    assert is_there(third.result().began().pid)


def test_a_process_inherits_no_lock_that_another_thread_holds(pool):
    """As kombu's, which are taken at each look at a property of a connection."""
    stopped = Event()

    def send() -> None:
        while not stopped.wait(0.001):
            with no_fork, of_the_broker:
                time.sleep(0.003)

    with ThreadPoolExecutor(1) as sweep:
        sweep.submit(send)
        try:
            tasks = [Told(pool, use_the_broker).ended() for _ in range(5)]
        finally:
            stopped.set()

    assert [task.said for task in tasks] == [["done"]] * 5


def test_a_process_can_use_what_the_thread_that_receives_messages_holds(pool):
    """It is forked by this thread, whose locks go on being its own."""
    with of_the_broker:
        task = Told(pool, use_the_broker).ended()

    assert task.said == ["done"]


def test_nothing_is_forked_while_celery_is_told_of_an_end(pool):
    class Watching(Told):
        def _end(self, how: Any) -> None:
            super()._end(no_fork.locked())

    assert Watching(pool, die).ended().said == [True]


def test_a_task_is_interrupted_at_its_time_limit(pool, tmp_path):
    task = Told(pool, sleep, tmp_path / "said", soft_timeout=0.1)

    assert task.ended().said == ["too long", WorkerLostError]
    assert not is_there(task.pid)


def test_a_task_that_is_interrupted_can_end_well(pool, tmp_path):
    file = tmp_path / "said"
    task = Told(pool, sleep_until_stopped, file).began()
    end = time.monotonic() + PATIENCE
    while not file.exists() and time.monotonic() < end:
        time.sleep(0.01)

    os.kill(task.pid, signal.SIGUSR1)

    assert task.ended().said == ["done"]
    assert file.read_text() == "stopped"


def test_a_task_that_goes_on_is_killed(pool, tmp_path):
    task = Told(pool, sleep, tmp_path / "said", timeout=0.3)

    assert task.ended().said == ["much too long"]
    assert not (tmp_path / "said").exists()
    assert not is_there(task.pid)


def test_a_task_whose_process_is_killed_is_told_as_lost_so_that_its_message_comes_again(pool):
    assert Told(pool, die).ended().said == [WorkerLostError]


def test_a_task_that_celery_ends_is_told_as_ended(pool, tmp_path):
    task = Told(pool, sleep, tmp_path / "said").began()

    pool.terminate_job(task.pid)

    assert task.ended().said == [Terminated]


def test_a_task_for_which_there_is_no_process_comes_again_later(pool, monkeypatch, caplog):
    def refuse(child: pools.Process) -> None:
        raise OSError("Cannot allocate memory")

    monkeypatch.setattr(pools, "PAUSE_SECONDS", 0.0)
    monkeypatch.setattr(pools.Process, "start", refuse)

    assert Told(pool, die).ended().said == [WorkerLostError]
    assert caplog.messages == ["No process could be started for a task: Cannot allocate memory"]


def test_a_worker_that_stops_waits_for_its_tasks(pool, tmp_path):
    task = Told(pool, write, tmp_path / "said", "done").began()

    pool.stop()

    assert task.said == ["done"]


def test_a_worker_that_is_made_to_stop_ends_its_tasks(pool, tmp_path):
    task = Told(pool, sleep, tmp_path / "said").began()

    pool.terminate()

    assert task.said == [Terminated]
    assert not is_there(task.pid)
