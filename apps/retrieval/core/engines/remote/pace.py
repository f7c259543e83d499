"""How hard another side is asked: how many at once, how often, and for how long when it does not answer."""

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from random import Random
from typing import Any

from apps.retrieval.core.engines.base import BadParameters

LONGEST_WAIT = 60.0
BOUNDS: dict[str, tuple[float, float]] = {
    "at_once": (1, 32),
    "per_second": (0, 10_000),
    "tries": (1, 8),
    "first_wait": (0.01, 30),
    "connect": (0.1, 60),
    "read": (0.1, 300),
    "whole": (0.1, 600),
    "stop_after": (1, 1_000),
}


@dataclass(frozen=True)
class Pace:
    """No part of a system's identity: it changes when answers come, not what they are.

    `per_second` 0 is no limit. Between the tries of a query lie `first_wait` seconds, then twice as many each time,
    less a random part of up to a half. `connect`, `read` and `whole` are seconds, as in a client's limits. After
    `stop_after` queries in a row that nobody answered the rest is not asked.
    """

    at_once: int = 4
    per_second: float = 0.0
    tries: int = 4
    first_wait: float = 0.5
    connect: float = 5.0
    read: float = 10.0
    whole: float = 30.0
    stop_after: int = 10

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> "Pace":
        """A pace from plain values, the rest as it is by default. Raises BadParameters."""
        known = asdict(cls())
        if unknown := sorted(set(values) - set(known)):
            raise BadParameters(f"“{unknown[0]}” is not a request limit.")
        for name, value in values.items():
            low, high = BOUNDS[name]
            if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
                raise BadParameters(f"{name} is {value!r}; it is a number from {low:g} to {high:g}.")
        settled: dict[str, Any] = {name: type(known[name])(value) for name, value in values.items()}
        return cls(**settled)

    def values(self) -> dict[str, float]:
        return asdict(self)

    def wait_before(self, attempt: int, query_id: str) -> float:
        """Seconds to wait before the second and later tries. The random part is the query's own, so that two runs
        wait alike.
        """
        longest = min(self.first_wait * 2 ** (attempt - 2), LONGEST_WAIT)
        return longest * (1 - Random(f"{query_id}/{attempt}").random() / 2)


class Gate:
    """Lets requests through at most `per_second` a second, evenly, and none while the other side asked for quiet."""

    def __init__(self, per_second: float, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._gap = 1 / per_second if per_second else 0.0
        self._clock = clock
        self._next = 0.0
        self._lock = threading.Lock()
        self._stopped = threading.Event()

    def take(self) -> float:
        """Seconds to wait before the next request. Each call takes a place of its own."""
        with self._lock:
            now = self._clock()
            place = max(now, self._next)
            self._next = place + self._gap
            return place - now

    def hold(self, seconds: float) -> None:
        """Let nobody begin for so long."""
        with self._lock:
            self._next = max(self._next, self._clock() + seconds)

    def stop(self) -> None:
        self._stopped.set()

    @property
    def is_stopped(self) -> bool:
        return self._stopped.is_set()

    def sleep(self, seconds: float) -> bool:
        """Wait; False as soon as the gate is stopped."""
        return not self._stopped.wait(seconds) if seconds > 0 else not self.is_stopped
