"""The threads that answer requests: as few at a time as keep up, and the one that was idle last takes the next."""

import threading
import time
from collections import deque
from collections.abc import Callable
from math import inf
from queue import Empty, SimpleQueue
from typing import Generic, TypeVar

Work = TypeVar("Work")
KEPT = 2
"""Threads that stay, so that whoever comes after a pause finds one with a warm connection."""
IDLE_SECONDS = 2.0
PACE_SECONDS = 0.02
"""A piece of work that takes longer than this is long."""


class Threads(Generic[Work]):
    """Up to `most` threads, started when they are needed, that call `do` on each piece of work that is submitted.

    Python runs one thread at a time, and two hand the interpreter to each other at every statement of the database:
    both take longer then. So one thread works off what waits. Only when it has been at the same piece of work for
    `pace_seconds` does one more begin; the event loop calls `hasten` for that.
    With a pace of 0 nothing waits while a thread is idle.

    Work is begun in the order in which it came. `do` raises nothing. Nobody waits for a result: the threads of an
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
        pace_seconds: float = PACE_SECONDS,
    ) -> None:
        self._most = most
        self._do = do
        self._leave = leave
        self._kept = kept
        self._idle_seconds = idle_seconds
        self.pace_seconds = pace_seconds
        self._lock = threading.Lock()
        self._count = 0
        self._working: dict[SimpleQueue[Work | None], float] = {}
        """Since when each thread has been at its piece of work."""
        self._idle: list[SimpleQueue[Work | None]] = []
        self._line: deque[Work] = deque()
        self._is_over = False

    def submit(self, work: Work) -> None:
        with self._lock:
            self._line.append(work)
            self._begin()

    def hasten(self) -> float | None:
        """Let one more thread begin, if what waits has waited for long enough.

        Returns in how many seconds to call this again, or None when nothing waits for that.
        """
        with self._lock:
            self._begin()
            if not self._line or not self.pace_seconds:
                return None
            rest = self._last_began() + self.pace_seconds - time.monotonic()
            return rest if rest > 0 else self.pace_seconds  # all are busy, and the next to end may rest

    def shutdown(self, wait: bool = False) -> None:
        """End the idle threads, and each busy one after its work. `wait` is what gunicorn passes: nobody waits."""
        with self._lock:
            self._is_over = True
            for inbox in self._idle:
                inbox.put(None)
            self._count -= len(self._idle)
            self._idle.clear()

    def _begin(self) -> None:
        """Give the first that waits to a thread that is idle or new, unless those that work keep up."""
        if not self._line or self._keeps_up() or not self._has_thread():
            return
        if self._idle:
            inbox = self._idle.pop()
        else:
            inbox = SimpleQueue()
            self._count += 1
            threading.Thread(target=self._run, args=[inbox], daemon=True, name=f"answers-{self._count}").start()
        inbox.put(self._taken(inbox))

    def _has_thread(self) -> bool:
        return bool(self._idle) or self._count < self._most

    def _keeps_up(self) -> bool:
        """Whether a thread that has just begun its work will soon be here for the next."""
        return self._last_began() > time.monotonic() - self.pace_seconds

    def _last_began(self) -> float:
        return max(self._working.values(), default=-inf)

    def _taken(self, inbox: "SimpleQueue[Work | None]") -> Work:
        self._working[inbox] = time.monotonic()
        return self._line.popleft()

    def _run(self, inbox: "SimpleQueue[Work | None]") -> None:
        work = inbox.get()
        while work is not None:
            self._do(work)
            work = self._next(inbox)
        if self._leave is not None:
            self._leave()

    def _next(self, inbox: "SimpleQueue[Work | None]") -> Work | None:
        with self._lock:
            del self._working[inbox]
            if self._line and (self._is_over or not self._keeps_up()):
                return self._taken(inbox)
            if self._is_over:
                self._count -= 1
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
