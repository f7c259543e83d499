"""Claims and performs jobs."""

import logging
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from contextvars import copy_context
from datetime import datetime
from functools import partial
from typing import Any

from django.conf import settings
from django.db import DatabaseError, connection, transaction
from django.db.models import F, Q
from django.db.models.functions import Now
from django.urls import reverse

from apps.common.database.functions import from_now
from apps.common.errors import InputErrors, Refusal
from apps.common.files.buckets import BucketAway
from apps.common.web.logs import reset_request_id, set_request_id
from apps.jobs import workflow
from apps.jobs.enums import JobState, JobStep, ServerEvent, WebhookEvent
from apps.jobs.execution.context import JobCancelled, JobContext, JobFailed, LeaseLost, TimeLimitReached
from apps.jobs.execution.mailing import absolute
from apps.jobs.execution.outbox import post_to_operators, post_to_webhooks
from apps.jobs.models import Job
from apps.jobs.selectors.job_kinds import UnknownKind, kind_named


@transaction.atomic
def give_up(job_id: int, *, where: Q, error: str, at: datetime) -> Job | None:
    """Let a job fail for good and tell the webhooks; None when somebody else was first, as of `workflow.move`.

    They get the title and not the reason, which may quote what was in a file.
    """
    job = workflow.move(
        job_id, JobStep.GIVE_UP, where=where, at=at, lease_expires_at=None, finished_at=Now(), error=error
    )
    if job is None:
        return None
    facts = {"job": job.pk, "kind": job.kind, "title": job.title}
    if job.project is None:
        post_to_operators(event=ServerEvent.JOB, facts=facts, at=at)
    else:
        url = absolute(reverse("jobs:job", args=[job.project.slug, job.pk]))
        post_to_webhooks(project=job.project, event=WebhookEvent.JOB, facts={**facts, "url": url}, at=at)
    return job


log = logging.getLogger(__name__)

REASON_LENGTH = 500
WAIT_BASE_SECONDS = 5
LAST_SECONDS = 60
"""After its time limit, an attempt that has not ended by itself ends with its worker."""

CAN_BE_CLAIMED = Q(attempt__lt=F("max_attempts"), cancel_requested_at=None) & (
    Q(state=JobState.QUEUED) & (Q(next_at=None) | Q(next_at__lte=Now()))
    | Q(state=JobState.RUNNING, lease_expires_at__lt=Now())
)


def claim(job_id: int, *, worker: str, at: datetime) -> Job | None:
    """Take the job by one conditional update that raises the attempt, or return None when it cannot be claimed."""
    state = Job.objects.filter(CAN_BE_CLAIMED, pk=job_id).values_list("state", flat=True).first()
    if state is None:
        return None
    return workflow.move(
        job_id,
        JobStep.CLAIM if state == JobState.QUEUED else JobStep.RECLAIM,
        where=CAN_BE_CLAIMED,
        at=at,
        attempt=F("attempt") + 1,
        lease_expires_at=from_now(settings.JOB_LEASE_SECONDS),
        worker=worker,
        started_at=Now(),
        next_at=None,
    )


def extend_lease(job_id: int, attempt: int) -> bool:
    """Extend the lease of the job; False when this attempt is no longer the current one."""
    rows = Job.objects.filter(pk=job_id, attempt=attempt, state=JobState.RUNNING)
    return rows.update(lease_expires_at=from_now(settings.JOB_LEASE_SECONDS)) == 1


def perform(job_id: int, *, worker: str, clock: Callable[[], datetime], with_heartbeat: bool = True) -> Job | None:
    """Claim the job and do it. Returns the job as it is afterwards, None when it could not be claimed."""
    job = claim(job_id, worker=worker, at=clock())
    if job is None:
        return None
    ctx = JobContext(job, clock=clock)
    project = job.project.slug if job.project else ""
    token = set_request_id(f"job-{job.pk}-{job.attempt}", job=job.pk, project=project)
    try:
        with heartbeat(ctx) if with_heartbeat else nullcontext():
            _attempt(job, ctx)
    finally:
        reset_request_id(token)
    return Job.objects.get(pk=job_id)


def _attempt(job: Job, ctx: JobContext) -> None:
    """Run the handler and store its outcome."""
    try:
        answer = kind_named(job.kind).handler(ctx)
        _end(ctx, answer or {})
    except LeaseLost as lost:
        log.warning("%s This worker stopped working on it.", lost)
    except JobCancelled:
        _close(ctx, JobStep.CANCEL, finished_at=Now())
    except BucketAway as away:
        _try_again(job, ctx, away.sentence)
    except (JobFailed, UnknownKind, Refusal, InputErrors) as refusal:
        _fail(ctx, str(refusal))
    except TimeLimitReached as limit:
        log.error("Job %s (%s) ran into the time limit.", job.pk, job.kind)
        _try_again(job, ctx, str(limit))
    except Exception as problem:
        log.exception("Job %s (%s) failed in attempt %s.", job.pk, job.kind, job.attempt)
        _try_again(job, ctx, _reason(problem))


def _end(ctx: JobContext, answer: dict) -> None:
    if not ctx.is_finished:
        with ctx.finish() as result:
            result.update(answer)
    elif answer and answer != ctx.result:
        done = Job.objects.filter(ctx.current_attempt, pk=ctx.job_id, state=JobState.DONE)
        done.update(result={**ctx.result, **answer})


def _try_again(job: Job, ctx: JobContext, reason: str) -> None:
    if job.attempt >= job.max_attempts:
        _fail(ctx, reason)
        return
    wait = WAIT_BASE_SECONDS * 3 ** max(0, 3 - (job.max_attempts - job.attempt) - 1)
    _close(ctx, JobStep.TRY_AGAIN, next_at=from_now(wait), error=reason)


def _fail(ctx: JobContext, reason: str) -> None:
    if _can_end(ctx):
        give_up(ctx.job_id, where=ctx.current_attempt, error=reason, at=ctx.at)


def _close(ctx: JobContext, step: JobStep, **changes: Any) -> None:
    if _can_end(ctx):
        workflow.move(ctx.job_id, step, where=ctx.current_attempt, at=ctx.at, lease_expires_at=None, **changes)


def _can_end(ctx: JobContext) -> bool:
    """Whether there is something to end: when the effect and "done" are committed, later errors are in the log."""
    if not connection.in_atomic_block:
        connection.close_if_unusable_or_obsolete()
    return not ctx.is_finished


def _reason(problem: Exception) -> str:
    text = str(problem).strip()
    name = type(problem).__name__
    return (f"{name}: {text}" if text else name)[:REASON_LENGTH]


@contextmanager
def heartbeat(ctx: JobContext) -> Iterator[None]:
    """Extend the lease repeatedly from a thread with its own connection, until the block ends or takes too long."""
    stop = threading.Event()
    beat = partial(copy_context().run, _beat, ctx, stop)  # what it logs is about the job
    thread = threading.Thread(target=beat, name=f"lease-of-job-{ctx.job_id}", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def _beat(ctx: JobContext, stop: threading.Event) -> None:
    limit = time.monotonic() + settings.JOB_TIME_LIMIT
    try:
        while not stop.wait(settings.JOB_LEASE_SECONDS / 4):
            late = time.monotonic() - limit
            if late > 0:
                ctx.late.set()
            if late > LAST_SECONDS:
                _end_with_worker(ctx)
                return
            try:
                is_extended = extend_lease(ctx.job_id, ctx.attempt)
            except DatabaseError as problem:  # a busy or restarting database; the lease may last longer
                log.warning("The lease of job %s could not be extended: %s", ctx.job_id, problem)
                connection.close()
                continue
            if not is_extended:
                ctx.lost.set()
                return
    finally:
        connection.close()


def _end_with_worker(ctx: JobContext) -> None:
    """A worker does one job at a time, so one that never ends would keep it from all others."""
    log.critical("Job %s did not end at its time limit. Its worker is killed.", ctx.job_id)
    try:
        Job.objects.filter(ctx.current_attempt, pk=ctx.job_id).update(error=str(TimeLimitReached()))
    finally:
        os.kill(os.getpid(), signal.SIGKILL)
