"""The task that wakes the sealer. Its message may be lost: every worker also checks every few seconds."""

import logging
import threading
import time

from celery import shared_task

from apps.audit.execution.sealing import seal_all

log = logging.getLogger(__name__)

QUIET_SECONDS = 2.0
AFTER_FAILURE_SECONDS = 30.0

_lock = threading.Lock()
_not_before = 0.0


@shared_task(name="audit.seal")
def seal(from_the_start: bool = False) -> None:
    seal_all(from_the_start=from_the_start)


def seal_soon() -> None:
    """Queue the sealing task, at most once in two seconds from this process; never raises.

    After a failure of the broker it is not tried for half a minute, so that no request waits for it twice.
    """
    global _not_before
    with _lock:
        now = time.monotonic()
        if now < _not_before:
            return
        _not_before = now + QUIET_SECONDS
    try:
        seal.apply_async(retry=False)
    except Exception as problem:
        _not_before = time.monotonic() + AFTER_FAILURE_SECONDS
        log.warning("The sealer could not be woken (%s). The next sweep seals new records.", problem)
