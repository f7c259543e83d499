"""The threads that answer requests: how many work at a time, who takes the next, who waits, and the end."""

import threading
import time
from collections.abc import Callable
from queue import SimpleQueue

import pytest

from apps.config.serving.threads import Threads

PATIENCE = 10
LONG = 3600.0


class Desk:
    """Threads whose work is held until the test lets it go, and what they did."""

    def __init__(self, most: int, *, pace_seconds: float = 0.0, **how: float) -> None:
        self.left: SimpleQueue[str] = SimpleQueue()
        self.threads: Threads[str] = Threads(most, self.do, self.leave, pace_seconds=pace_seconds, **how)
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

    def are_long(self, *works: str) -> None:
        """As if these had begun long ago; all of them are being worked on, and nothing else is."""
        assert len(self.threads._working) == len(works)
        for inbox in self.threads._working:
            self.threads._working[inbox] -= 2 * LONG

    def end(self) -> None:
        self.threads.shutdown()
        for held in self.held.values():
            held.set()
        wait_until(lambda: not self.running())

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
    desk.end()


@pytest.fixture
def slow_desk():
    """One where no work is ever long, unless the test says that the thread waits."""
    desk = Desk(most=3, pace_seconds=LONG)
    yield desk
    desk.end()


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


@pytest.mark.parametrize("pace", [0.0, 0.0001, LONG])
def test_no_work_is_lost_or_done_twice_under_a_crowd(pace):
    done: SimpleQueue[int] = SimpleQueue()
    threads: Threads[int] = Threads(4, done.put, pace_seconds=pace)
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


def test_one_thread_does_all_that_comes_while_it_keeps_up(slow_desk):
    slow_desk.submit("a", "b", "c")
    assert slow_desk.next() == ("a", "answers-1")
    assert slow_desk.threads.hasten() > 0

    for work in "abc":
        slow_desk.held[work].set()

    assert [slow_desk.next() for _ in range(2)] == [("b", "answers-1"), ("c", "answers-1")]
    wait_until(lambda: slow_desk.threads._idle)
    assert slow_desk.threads.hasten() is None


def test_when_a_work_is_long_one_more_begins(desk):
    desk.threads.pace_seconds = LONG
    desk.submit("a", "b", "c")
    assert desk.next()[0] == "a"

    desk.are_long("a")
    assert 0 < desk.threads.hasten() <= LONG

    assert desk.next() == ("b", "answers-2")
    assert desk.begun.empty()
    desk.are_long("a", "b")
    assert desk.threads.hasten() is None
    assert desk.next() == ("c", "answers-3")


def test_while_all_are_busy_the_event_loop_comes_again(desk):
    desk.submit("a", "b", "c", "d")
    for _ in range(3):
        desk.next()
    assert desk.threads.hasten() is None  # at no pace nobody rests while something waits
    desk.threads.pace_seconds = LONG
    desk.are_long("a", "b", "c")
    assert desk.threads.hasten() == LONG

    desk.held["a"].set()
    assert desk.next()[0] == "d"
    desk.submit("e")
    desk.held["b"].set()
    wait_until(lambda: desk.threads._idle)
    assert desk.begun.empty()
    desk.are_long("c", "d")
    desk.threads.hasten()

    assert desk.next()[0] == "e"


def test_beside_a_long_work_small_ones_follow_each_other_at_once(desk):
    desk.submit("long")
    desk.next()
    desk.are_long("long")
    desk.threads.pace_seconds = LONG

    desk.submit("a", "b")
    assert desk.next()[0] == "a"
    assert desk.begun.empty()
    desk.held["a"].set()

    assert desk.next()[0] == "b"


def test_of_two_that_work_one_rests_as_soon_as_the_other_keeps_up(desk):
    desk.submit("a", "b")
    for _ in range(2):
        desk.next()
    desk.threads.pace_seconds = LONG
    desk.submit("c")

    desk.held["a"].set()
    wait_until(lambda: desk.threads._idle)

    assert desk.begun.empty()
    desk.held["b"].set()
    assert desk.next()[0] == "c"


def test_what_comes_after_the_end_has_begun_is_still_done(desk):
    desk.submit("a", "b", "c")
    for _ in range(3):
        desk.next()
    desk.threads.shutdown()
    desk.held["a"].set()
    wait_until(lambda: len(desk.running()) == 2)

    desk.submit("d")

    assert desk.next()[0] == "d"
