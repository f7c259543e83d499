"""Messages that are not sent."""

from typing import NamedTuple

from apps.jobs.core.progress import spoken

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
