"""The context that a job's handler works with: progress, exactly-once parts, the end of the job."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from functools import cached_property
from threading import Event as Flag
from typing import Any

from django.conf import settings
from django.db import connection, transaction
from django.db.models import F, Q
from django.db.models.functions import Coalesce, Now

from apps.accounts.models import Project, User
from apps.common.database.functions import from_now
from apps.jobs import workflow
from apps.jobs.enums import JobState, JobStep
from apps.jobs.models import Job, JobChunk

PROGRESS_EVERY = 0.25
TEXT_LENGTH = 200


class LeaseLost(Exception):
    """Raised in a worker whose attempt is no longer the current one; its open transaction is rolled back."""


class JobCancelled(Exception):
    """Raised in a handler when the job was cancelled."""


class TimeLimitReached(Exception):
    """Raised in a handler when the attempt took longer than the time limit."""

    def __str__(self) -> str:
        return f"It took longer than {settings.JOB_TIME_LIMIT:,} s."


class JobFailed(Exception):
    """Raised by a handler to fail without a retry, with a sentence for people."""


class JobContext:
    """One attempt at one job.

    Compute outside of transactions; write inside `chunk` or `finish`, which commit only while this attempt is the
    current one. `progress` may be called as often as needed.
    """

    def __init__(self, job: Job, *, clock: Callable[[], datetime]) -> None:
        self.job_id: int = job.pk
        self.attempt: int = job.attempt
        self.params: dict[str, Any] = job.params
        self.result: dict[str, Any] = {}
        self.is_finished = False
        self.lost = Flag()
        self.late = Flag()
        self._job = job
        self._clock = clock
        self._depth = len(connection.atomic_blocks)
        self._written_at = 0.0
        self._progress: dict[str, Any] = {}

    @property
    def at(self) -> datetime:
        """The current time, to pass to actions."""
        return self._clock()

    @cached_property
    def project(self) -> Project | None:
        return self._job.project

    @cached_property
    def actor(self) -> User | None:
        """The person who queued the job."""
        return self._job.created_by

    @property
    def current_attempt(self) -> Q:
        """The condition under which this attempt may still write."""
        return Q(attempt=self.attempt)

    def progress(self, done: int, total: int | None = None, text: str = "") -> None:
        """Store the progress, at most four times a second and never inside a transaction of the work.

        Raises as `check` does.
        """
        self._progress = {"done": done, "total": total, "progress_text": text[:TEXT_LENGTH]}
        now = time.monotonic()
        if now - self._written_at < PROGRESS_EVERY or self._in_transaction:
            return
        self._written_at = now
        self.check()
        self._mine().update(**self._progress, progress_at=Now())

    def check(self) -> None:
        """Raise JobCancelled, LeaseLost or TimeLimitReached when the attempt must end. Reads one row."""
        row = self._mine().values_list("cancel_requested_at", flat=True)[:1]
        if self.lost.is_set() or not row:
            raise LeaseLost(f"Attempt {self.attempt} of job {self.job_id} is no longer the current one.")
        if row[0] is not None:
            raise JobCancelled
        if self.late.is_set():
            raise TimeLimitReached

    @contextmanager
    def chunk(self, key: str) -> Iterator[bool]:
        """Do one part of the work exactly once: `with ctx.chunk("q:17") as fresh:` and write only if `fresh`.

        The part's writes and its mark commit together, and only for the current attempt. False means that an
        earlier attempt has done this part.
        """
        if key in self._chunks_done:
            yield False
            return
        with transaction.atomic():
            self._open()
            yield True
            self._lock()
            JobChunk.objects.create(job_id=self.job_id, key=key, attempt=self.attempt)
        self._chunks_done.add(key)

    @contextmanager
    def finish(self) -> Iterator[dict[str, Any]]:
        """Do the last part and end the job in one commit. Yields the result, a dict to fill."""
        with transaction.atomic():
            self._open()
            yield self.result
            moved = workflow.move(
                self.job_id,
                JobStep.FINISH,
                where=self.current_attempt,
                at=self.at,
                result=self.result,
                lease_expires_at=None,
                finished_at=Now(),
                error="",
                **self._whole(),
            )
            if moved is None:
                raise LeaseLost(f"Attempt {self.attempt} of job {self.job_id} came too late to finish.")
        self.is_finished = True

    def _whole(self) -> dict[str, Any]:
        """The progress of finished work: `done` equals `total`, whatever was stored last."""
        if not self._progress:
            return {"done": Coalesce(F("total"), F("done"))}
        total = self._progress["total"]
        return {
            **self._progress,
            "done": self._progress["done"] if total is None else total,
            "progress_at": Now(),
        }

    @property
    def _in_transaction(self) -> bool:
        return len(connection.atomic_blocks) > self._depth

    @cached_property
    def _chunks_done(self) -> set[str]:
        return set(JobChunk.objects.filter(job_id=self.job_id).values_list("key", flat=True))

    def _mine(self):
        return Job.objects.filter(self.current_attempt, pk=self.job_id, state=JobState.RUNNING)

    def _open(self) -> None:
        """Begin a transaction of the work. PostgreSQL ends it if the worker freezes, which releases its locks."""
        if connection.vendor == "postgresql":
            milliseconds = int(settings.JOB_LEASE_SECONDS * 2_000)
            with connection.cursor() as cursor:
                cursor.execute(
                    "SELECT set_config('idle_in_transaction_session_timeout', %s, true)", [str(milliseconds)]
                )
        self.check()

    def _lock(self) -> None:
        """Lock the job's row until the commit, so that nobody takes over between this check and the commit. The lease
        is extended too:

        on SQLite, parts in close succession may keep the heartbeat thread from writing.
        """
        if not self._mine().update(lease_expires_at=from_now(settings.JOB_LEASE_SECONDS)):
            raise LeaseLost(f"Attempt {self.attempt} of job {self.job_id} came too late to write.")
