"""The threads that answer requests: who takes the next, who waits, and the end."""

import threading
import time
from collections.abc import Callable
from queue import SimpleQueue

import pytest

from apps.config.serving.threads import Threads

PATIENCE = 10


class Desk:
    """Threads whose work is held until the test lets it go, and what they did."""

    def __init__(self, most: int, **how: float) -> None:
        self.left: SimpleQueue[str] = SimpleQueue()
        self.threads: Threads[str] = Threads(most, self.do, self.leave, **how)
        self.begun: SimpleQueue[tuple[str, str]] = SimpleQueue()
        self.held: dict[str, threading.Event] = {}

    def submit(self, *works: str) -> None:
        for work in works:
            self.held[work] = threading.Event()
            self.threads.submit(work)

    def do(self, work: str) -> None:
        self.begun.put((work, threading.current_thread().name))
        assert self.held[work].wait(PATIENCE)

    def leave(self) -> None:
        self.left.put(threading.current_thread().name)

    def next(self) -> tuple[str, str]:
        """The next work that was begun, and by which thread."""
        return self.begun.get(timeout=PATIENCE)

    def finish(self, *works: str) -> None:
        """Let these end, one after the other, each until its thread is idle."""
        for work in works:
            idle = len(self.threads._idle)
            self.held[work].set()
            wait_until(lambda idle=idle: len(self.threads._idle) > idle)

    def running(self) -> list[threading.Thread]:
        return [thread for thread in threading.enumerate() if getattr(thread, "_target", None) == self.threads._run]


def wait_until(true: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < end
        time.sleep(0.002)


@pytest.fixture
def desk():
    desk = Desk(most=3)
    yield desk
    desk.threads.shutdown()
    for held in desk.held.values():
        held.set()
    wait_until(lambda: not desk.running())


def test_threads_start_when_they_are_needed(desk):
    assert desk.running() == []

    desk.submit("a")
    desk.next()
    desk.finish("a")
    desk.submit("b")

    assert desk.next() == ("b", "answers-1")
    assert len(desk.running()) == 1


def test_the_thread_that_was_idle_last_takes_the_next(desk):
    desk.submit("a", "b", "c")
    threads = dict(desk.next() for _ in range(3))
    desk.finish("b", "c", "a")

    desk.submit("d")
    first = desk.next()
    desk.submit("e")
    second = desk.next()

    assert (first, second) == (("d", threads["a"]), ("e", threads["c"]))


def test_work_waits_in_line_while_all_are_busy_and_is_taken_in_its_order(desk):
    desk.submit("a", "b", "c")
    threads = dict(desk.next() for _ in range(3))
    desk.submit("d", "e")
    assert desk.begun.empty()
    assert len(desk.running()) == 3

    desk.held["b"].set()
    first = desk.next()
    desk.held["c"].set()
    second = desk.next()

    assert (first, second) == (("d", threads["b"]), ("e", threads["c"]))


def test_the_end_finishes_what_was_begun_and_what_waits_and_lets_idle_threads_go(desk):
    desk.submit("a", "b", "c")
    for _ in range(3):
        desk.next()
    desk.finish("a")
    desk.submit("d", "e")
    assert desk.next()[0] == "d"

    desk.threads.shutdown()
    for work in ("b", "c", "d", "e"):
        desk.held[work].set()

    assert desk.next()[0] == "e"
    wait_until(lambda: not desk.running())


def test_the_end_does_not_wait_for_a_busy_thread(desk):
    desk.submit("a")
    desk.next()

    desk.threads.shutdown(wait=True)

    assert len(desk.running()) == 1


def test_idle_threads_end_at_the_end(desk):
    desk.submit("a", "b")
    for _ in range(2):
        desk.next()
    desk.finish("a", "b")

    desk.threads.shutdown()

    wait_until(lambda: not desk.running())
    assert desk.threads._idle == []


def test_no_work_is_lost_or_done_twice_under_a_crowd():
    done: SimpleQueue[int] = SimpleQueue()
    threads: Threads[int] = Threads(4, done.put)
    crowd = [
        threading.Thread(target=lambda first=first: [threads.submit(n) for n in range(first, first + 250)])
        for first in range(0, 2000, 250)
    ]

    for one in crowd:
        one.start()
    for one in crowd:
        one.join()
    got = sorted(done.get(timeout=PATIENCE) for _ in range(2000))
    threads.shutdown()

    assert got == list(range(2000))
    assert done.empty()


def test_threads_that_have_nothing_to_do_end_but_for_those_that_are_kept():
    desk = Desk(most=3, kept=1, idle_seconds=0.05)
    desk.submit("a", "b", "c")
    by = dict(desk.next() for _ in range(3))
    for held in desk.held.values():
        held.set()

    left = {desk.left.get(timeout=PATIENCE) for _ in range(2)}
    wait_until(lambda: len(desk.running()) == 1)

    assert {thread.name for thread in desk.running()} == {*by.values()} - left
    desk.threads.shutdown()


def test_after_some_have_ended_as_many_can_work_as_before():
    desk = Desk(most=3, kept=0, idle_seconds=0.01)
    desk.submit("a", "b", "c")
    for held in desk.held.values():
        held.set()
    for _ in range(3):
        desk.left.get(timeout=PATIENCE)

    desk.submit("d", "e", "f")
    begun = {desk.next()[0] for _ in range(6)}

    assert begun == {*"abcdef"}
    for held in desk.held.values():
        held.set()
    desk.threads.shutdown()
