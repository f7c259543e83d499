"""A database that fails at its n-th write, for every n: the effect is all there or not at all, and in the end once."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from django.db import OperationalError, connection
from django.utils import timezone

from apps.common.database.functions import from_now
from apps.jobs.execution.performing import perform
from apps.jobs.models import Job
from tests.jobs.factories import make_job
from tests.jobs.kinds import effects
from tests.running_jobs import run_jobs

pytestmark = pytest.mark.django_db(transaction=True)

PARTS = ["part 0", "part 1", "end"]
WRITES = ("INSERT", "UPDATE", "DELETE")


class FailsAt:
    """Lets `number - 1` writes pass, breaks the next one, and lets all others pass."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.writes = 0

    def __call__(self, execute: Callable, sql: str, params: Any, many: bool, context: dict) -> Any:
        if sql.lstrip().upper().startswith(WRITES):
            self.writes += 1
            if self.writes == self.number:
                raise OperationalError("database or disk is full")
        return execute(sql, params, many, context)


def attempt(job: Job, fault: FailsAt) -> None:
    """One attempt. What escapes stands in a worker's log; the row is left to the sweep."""
    with connection.execute_wrapper(fault), suppress(OperationalError):
        perform(job.pk, worker="test", clock=timezone.now, with_heartbeat=False)


def count_writes() -> int:
    counter = FailsAt(0)
    attempt(make_job("test.chunks", parts=2), counter)
    return counter.writes


def test_a_write_that_fails_anywhere_leaves_whole_parts_and_the_next_attempts_do_the_rest():
    writes = count_writes()
    assert writes >= 10

    for number in range(1, writes + 1):
        job = make_job("test.chunks", parts=2)
        fault = FailsAt(number)
        attempt(job, fault)
        assert fault.writes >= number
        assert effects(job.pk) == PARTS[: len(effects(job.pk))]

        Job.objects.filter(pk=job.pk, state="running").update(lease_expires_at=from_now(-1))
        attempt(job, FailsAt(0))
        run_jobs()

        job.refresh_from_db()
        assert (number, job.state, effects(job.pk)) == (number, "done", PARTS)
