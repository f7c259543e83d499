"""The numbers that processes share, of what only a process knows: requests and busy threads.

They are made when this is imported, before any process is forked. Nothing is counted while the server has no token for
metrics.
"""

from django.conf import settings

from apps.common.web.shared_counts import SharedCounts

BOUNDS = (0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
"""Seconds: a grade on SQLite is in the first, and what takes longer than the last is in one more."""
STATUS_CLASSES = ("2xx", "3xx", "4xx", "5xx")
MOST_VIEWS = 1024
MICRO = 1_000_000

BUSY, THREADS, LEVELS = 0, 1, 2
BUCKETS = len(STATUS_CLASSES)
SUM = BUCKETS + len(BOUNDS) + 1
ROW = SUM + 1
"""The numbers of a view: answers by class of status, by the bucket of their time, and the sum of their times in µs."""


def new_counts() -> SharedCounts:
    return SharedCounts(LEVELS + MOST_VIEWS * ROW, levels=LEVELS)


counts = new_counts()


def count_threads(number: int) -> None:
    """Once in each web process: how many threads it has at most."""
    if settings.METRICS_TOKEN:
        counts.add((THREADS, number))
