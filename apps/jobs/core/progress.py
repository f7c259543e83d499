"""The progress of a job in words and numbers, and messages that are not sent."""

from typing import NamedTuple

MIN_ELAPSED_SECONDS = 1.0


def percent_done(done: int, total: int | None) -> int | None:
    """Whole per cent, never above 100; None when the total is not known."""
    return min(100, done * 100 // total) if total else None


def seconds_left(done: int, total: int | None, elapsed: float | None) -> int | None:
    """Estimated seconds until the end, at the rate so far; None while there is too little to estimate from."""
    if not total or not done or elapsed is None or elapsed < MIN_ELAPSED_SECONDS or done > total:
        return None
    return round((total - done) * elapsed / done)


def progress_line(done: int, total: int | None, left: int | None) -> str:
    """ "412,000 of 1,000,000, 40 s left", or as much of it as is known."""
    if not total:
        return f"{done:,} so far" if done else ""
    line = f"{done:,} of {total:,}"
    return line if left is None else f"{line}, {spoken(left)} left"


def spoken(seconds: float) -> str:
    """A span as people read it: "under 1 s", "40 s", "3 min", "5 h", "2 days"."""
    if 0 < seconds < 1:
        return "under 1 s"
    if seconds < 90:
        return f"{round(seconds)} s"
    if seconds < 90 * 60:
        return f"{round(seconds / 60)} min"
    if seconds < 48 * 3600:
        return f"{round(seconds / 3600)} h"
    return f"{round(seconds / 86_400)} days"


WEBHOOK_ENDED = "The webhook was removed before this was sent."
"""Why a message of a removed webhook is not sent: somebody wanted that, so it is no failure."""


class Unsent(NamedTuple):
    """Those of one kind: that wait, that failed before and wait again, and that were given up of late.

    `oldest_seconds` is the age of the first that failed, `reason` why the last one did.
    """

    waiting: int = 0
    failing: int = 0
    given_up: int = 0
    oldest_seconds: float = 0.0
    reason: str = ""

    @property
    def oldest(self) -> str:
        return spoken(self.oldest_seconds)
