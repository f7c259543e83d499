"""Long waits of a thread, of which whoever shares out the work is told: another thread can work meanwhile."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_here = threading.local()


def tell_of_long_waits(begin: Callable[[], None], end: Callable[[], None]) -> None:
    """Have these called in this thread, before and after each long wait. Neither raises anything."""
    _here.listeners = begin, end


@contextmanager
def long_wait() -> Iterator[None]:
    """Around what waits without working, and often for longer than another thread needs for what it has to do."""
    listeners = getattr(_here, "listeners", None)
    if listeners is None:
        yield
        return
    begin, end = listeners
    begin()
    try:
        yield
    finally:
        end()
