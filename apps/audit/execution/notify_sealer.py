"""Notifies the sealer of new records. The message may be lost: every worker also checks every few seconds."""

import logging
import mmap
import time

from apps.common.hooks import load_celery

log = logging.getLogger(__name__)

QUIET_SECONDS = 2.0
AFTER_FAILURE_SECONDS = 30.0

_not_before = memoryview(mmap.mmap(-1, 8)).cast("d")
"""When the next message may go out, in memory that forked processes share: each job has a process of its own."""


def seal_soon() -> None:
    """Queue the sealing task, about once in two seconds from this process and those forked from it; never raises.

    After a failure of the broker it is not tried for half a minute, so that no request waits for it twice.
    """
    now = time.monotonic()
    if now < _not_before[0]:
        return
    _not_before[0] = now + QUIET_SECONDS
    try:
        load_celery()
        from apps.audit.execution.tasks import seal  # Celery is slow to load, and most commands record nothing

        seal.apply_async(retry=False)
    except Exception as problem:
        _not_before[0] = time.monotonic() + AFTER_FAILURE_SECONDS
        log.warning("The sealer could not be notified (%s). The next sweep seals new records.", problem)
