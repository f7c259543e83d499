"""The threads that answer requests. The one that was idle last takes the next: its database connection is warm."""

import threading
from collections import deque
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import Generic, TypeVar

Work = TypeVar("Work")
KEPT = 2
"""Threads that stay, so that whoever comes after a pause finds one with a warm connection."""
IDLE_SECONDS = 2.0


class Threads(Generic[Work]):
    """Up to `most` threads, started when they are needed, that call `do` on each piece of work that is submitted.

    Work waits in line when all of them are busy. `do` raises nothing. Nobody waits for a result: the threads of an
    executor have futures, locks and callbacks for that, which cost more than a small request.

    All but `kept` end when they had nothing to do for `idle_seconds`, and call `leave` then: a connection to SQLite is
    1.6 MB of schema, and most of the threads are there for a crowd.
    """

    def __init__(
        self,
        most: int,
        do: Callable[[Work], None],
        leave: Callable[[], object] | None = None,
        *,
        kept: int = KEPT,
        idle_seconds: float = IDLE_SECONDS,
    ) -> None:
        self._most = most
        self._do = do
        self._leave = leave
        self._kept = kept
        self._idle_seconds = idle_seconds
        self._lock = threading.Lock()
        self._count = 0
        self._idle: list[SimpleQueue[Work | None]] = []
        self._line: deque[Work] = deque()
        self._is_over = False

    def submit(self, work: Work) -> None:
        with self._lock:
            if self._idle:
                self._idle.pop().put(work)
            elif self._count < self._most:
                self._count += 1
                threading.Thread(target=self._run, args=[work], daemon=True, name=f"answers-{self._count}").start()
            else:
                self._line.append(work)

    def shutdown(self, wait: bool = False) -> None:
        """End the idle threads, and each busy one after its work. `wait` is what gunicorn passes: nobody waits."""
        with self._lock:
            self._is_over = True
            for inbox in self._idle:
                inbox.put(None)
            self._idle.clear()

    def _run(self, first: Work) -> None:
        inbox: SimpleQueue[Work | None] = SimpleQueue()
        work: Work | None = first
        while work is not None:
            self._do(work)
            work = self._next(inbox)
        if self._leave is not None:
            self._leave()

    def _next(self, inbox: "SimpleQueue[Work | None]") -> Work | None:
        with self._lock:
            if self._line:
                return self._line.popleft()
            if self._is_over:
                return None
            self._idle.append(inbox)
        while True:
            try:
                return inbox.get(timeout=self._idle_seconds)
            except Empty:
                if self._may_end(inbox):
                    return None

    def _may_end(self, inbox: "SimpleQueue[Work | None]") -> bool:
        """Whether this thread is one too many. It is not when work is on its way to it, or it is to be the next."""
        with self._lock:
            if inbox not in self._idle[: -self._kept or None]:
                return False
            self._idle.remove(inbox)
            self._count -= 1
            return True
