"""Making the next part of what is stored while the database stores the one before."""

from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Generic, TypeVar

T = TypeVar("T")
END: Any = object()


class Ahead(Generic[T]):
    """The parts in their order. A thread makes each from `begin_next` on, or else when it is asked for.

    Begin where the database is waited for longest, and not earlier: Python runs one thread at a time, so a part would
    be made in the time of this thread, and be finished when it waits. Making a part must not use the database: the
    thread would have a connection of its own, outside of the transaction. What it raises is raised where the part
    would come. Without a thread the parts are made when they are asked for.
    """

    def __init__(self, parts: Iterable[T], *, in_a_thread: bool = True) -> None:
        self._parts = iter(parts)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="ahead") if in_a_thread else None
        self._coming: Future[T] | None = None

    def begin_next(self) -> None:
        if self._thread and self._coming is None:
            self._coming = self._thread.submit(next, self._parts, END)

    def __iter__(self) -> Iterator[T]:
        if self._thread is None:
            yield from self._parts
            return
        with self._thread:
            while (part := self._next()) is not END:
                yield part

    def _next(self) -> T:
        self.begin_next()
        assert self._coming is not None
        part, self._coming = self._coming.result(), None
        return part
