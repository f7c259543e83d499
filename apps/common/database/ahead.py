"""Making the next part of what is stored while the database stores the last one."""

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")
END = object()


def ahead(parts: Iterable[T]) -> Iterator[T]:
    """The parts in their order; a thread makes each while the one before is in use, and then waits.

    Making a part must not use the database: the thread would have a connection of its own, outside of the transaction.
    What it raises is raised where the part would come.
    """
    iterator = iter(parts)
    with ThreadPoolExecutor(1, thread_name_prefix="ahead") as thread:
        coming = thread.submit(next, iterator, END)
        while (part := coming.result()) is not END:
            coming = thread.submit(next, iterator, END)
            yield part  # type: ignore[misc]
