"""How long the threads of this process have waited for the database, told to whoever counts it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import IntEnum
from time import perf_counter


class WaitFor(IntEnum):
    """What a thread waits for: SQLite's lock, the disk at a commit to SQLite, or a connection that is opened."""

    LOCK = 0
    DISK = 1
    CONNECTION = 2


Listener = Callable[[WaitFor, float], object]
_listeners: list[Listener] = []


def tell_of_time_waited(listener: Listener) -> None:
    """Have this called after each wait of this process, in the thread that waited, with its seconds.

    There is one listener: another takes its place. It raises nothing.
    """
    _listeners[:] = [listener]


def say_waited(what: WaitFor, seconds: float) -> None:
    for listener in _listeners:
        listener(what, seconds)


@contextmanager
def timed_wait(what: WaitFor) -> Iterator[None]:
    """Around a wait, also one that fails."""
    began = perf_counter()
    try:
        yield
    finally:
        say_waited(what, perf_counter() - began)
