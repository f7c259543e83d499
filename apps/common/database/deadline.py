"""Reading with a deadline, for what must answer whatever has become of the database."""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

from django.db import OperationalError, connection

T = TypeVar("T")

SECONDS = 3.0
MOST_THREADS = 4

_free = threading.Semaphore(MOST_THREADS)


def read_in_time(read: Callable[[], T], *, seconds: float = SECONDS) -> T:
    """What `read` returns or raises; OperationalError when the database has not answered after so many seconds.

    A server that is frozen, or behind a network that drops everything, keeps a thread waiting for minutes. So on
    PostgreSQL another thread reads, by a new connection, and is left alone when it is late: opening one ends after five
    seconds at the latest. SQLite answers at once, or refuses.
    """
    if connection.vendor == "sqlite":
        return read()
    if not _free.acquire(blocking=False):
        raise OperationalError("The database has not answered those who asked before.")
    answer: Future[T] = Future()
    threading.Thread(target=_read, args=(read, answer), daemon=True, name="reads-in-time").start()
    try:
        return answer.result(timeout=seconds)
    except TimeoutError:
        raise OperationalError(f"The database has not answered for {seconds:g} s.") from None


def _read(read: Callable[[], Any], answer: Future[Any]) -> None:
    try:
        answer.set_result(read())
    except BaseException as problem:
        answer.set_exception(problem)
    finally:
        connection.close()
        _free.release()
