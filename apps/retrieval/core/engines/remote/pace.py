"""Request limits: how many requests at once, how often, how many retries, and how long to wait."""

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
    """The request limits of a system elsewhere. They are not part of its identity, since they change no answer.

    `per_second` 0 is no limit. The pause before the second try is `first_wait` seconds and doubles for each further
    try, less a random part of up to a half. `connect`, `read` and `whole` are time limits in seconds, as in `Limits`.
    After `stop_after` failed queries in a row the other queries are not sent.
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
        """A pace from plain values; the others have their defaults. Raises BadParameters."""
        known = asdict(cls())
        if unknown := sorted(set(values) - set(known)):
            raise BadParameters(f"“{unknown[0]}” is not a request limit.")
        for name, value in values.items():
            low, high = BOUNDS[name]
            if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
                raise BadParameters(f"{name} must be a number from {low:g} to {high:g}, not {value!r}.")
        converted: dict[str, Any] = {name: type(known[name])(value) for name, value in values.items()}
        return cls(**converted)

    def values(self) -> dict[str, float]:
        return asdict(self)

    def wait_before(self, attempt: int, query_id: str) -> float:
        """Seconds to wait before try `attempt`, from 2. The random part depends only on query and attempt, so it is the
        same in every run.
        """
        longest = min(self.first_wait * 2 ** (attempt - 2), LONGEST_WAIT)
        return longest * (1 - Random(f"{query_id}/{attempt}").random() / 2)


class RateLimiter:
    """Spaces requests evenly, at most `per_second` (0 for no limit), and can pause or stop them all."""

    def __init__(self, per_second: float, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._gap = 1 / per_second if per_second else 0.0
        self._clock = clock
        self._next = 0.0
        self._lock = threading.Lock()
        self._stopped = threading.Event()

    def reserve(self) -> float:
        """Reserve the time of one request; returns the seconds until then."""
        with self._lock:
            now = self._clock()
            start = max(now, self._next)
            self._next = start + self._gap
            return start - now

    def pause(self, seconds: float) -> None:
        """Start no request for that long, except those with a reserved time."""
        with self._lock:
            self._next = max(self._next, self._clock() + seconds)

    def stop(self) -> None:
        self._stopped.set()

    @property
    def is_stopped(self) -> bool:
        return self._stopped.is_set()

    def sleep(self, seconds: float) -> bool:
        """Wait that long; False as soon as the limiter is stopped."""
        return not self._stopped.wait(seconds) if seconds > 0 else not self.is_stopped
