"""Actions that queue, cancel and retry jobs."""

from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import F

from apps.accounts.models import Project, User
from apps.accounts.selectors import roles_of
from apps.audit.actions import record
from apps.common.errors import Refusal
from apps.jobs import rules, workflow
from apps.jobs.enums import JobState, JobStep
from apps.jobs.execution.sweep import nudge_on_commit
from apps.jobs.models import MAX_ATTEMPTS, Job
from apps.jobs.selectors.job_kinds import kind_named


class JobRefused(Refusal):
    """A job cannot be cancelled or retried."""


@transaction.atomic
def enqueue(
    *,
    kind: str,
    params: dict[str, Any],
    project: Project | None,
    actor: User | None,
    at: datetime,
    title: str = "",
    max_attempts: int = MAX_ATTEMPTS,
) -> Job:
    """Queue slow work, in the transaction of the rows that the work is about.

    `params` are plain JSON values. `title` is shown in the list; the kind's own by default. Raises UnknownKind for a
    kind that nobody registered.
    """
    job = Job.objects.create(
        project=project,
        kind=kind,
        title=title or kind_named(kind).title,
        params=params,
        max_attempts=max_attempts,
        created_by=actor,
        created_at=at,
    )
    record(
        project=project,
        actor=actor,
        action="job.queued",
        obj=job,
        after={"state": job.state, "kind": kind},
        at=at,
    )
    nudge_on_commit(job.pk)
    return job


@transaction.atomic
def cancel_job(*, job_id: int, actor: User, at: datetime) -> Job:
    """Cancel a job: at once while it is queued, at its next step while it runs."""
    job = _locked(job_id)
    if reason := rules.cancel_refusal(job, actor=actor, roles=_roles(actor, job)):
        raise JobRefused(reason, code="job_not_cancellable")
    if job.state == JobState.QUEUED:
        moved = workflow.move(
            job.pk, JobStep.CANCEL, actor=actor, at=at, cancel_requested_at=at, finished_at=at, next_at=None
        )
        if moved is not None:
            return moved
    Job.objects.filter(pk=job.pk).update(cancel_requested_at=at)
    record(project=job.project, actor=actor, action="job.cancel_requested", obj=job, at=at)
    job.refresh_from_db()
    return job


@transaction.atomic
def retry_job(*, job_id: int, actor: User, at: datetime) -> Job:
    """Give a failed or cancelled job three more attempts; completed parts are not repeated."""
    job = _locked(job_id)
    if reason := rules.retry_refusal(job, roles=_roles(actor, job)):
        raise JobRefused(reason, code="job_not_retryable")
    moved = workflow.move(
        job.pk,
        JobStep.RETRY,
        actor=actor,
        at=at,
        max_attempts=F("attempt") + MAX_ATTEMPTS,
        finished_at=None,
        cancel_requested_at=None,
        next_at=None,
        nudged_at=None,
        error="",
    )
    nudge_on_commit(job.pk)
    assert moved is not None  # the row is locked and the rule has checked its state
    return moved


@transaction.atomic
def stop_jobs(*, project: Project, actor: User | None, at: datetime) -> None:
    """Cancel every job of a project: at once while it is queued, at its next step while it runs."""
    for job in Job.objects.open().filter(project=project).select_for_update().order_by("pk"):
        if job.state == JobState.QUEUED:
            workflow.move(
                job.pk, JobStep.CANCEL, actor=actor, at=at, cancel_requested_at=at, finished_at=at, next_at=None
            )
        else:
            Job.objects.filter(pk=job.pk, cancel_requested_at=None).update(cancel_requested_at=at)


def _locked(job_id: int) -> Job:
    return Job.objects.select_for_update().get(pk=job_id)


def _roles(actor: User, job: Job) -> frozenset[str]:
    return roles_of(actor, job.project) if job.project is not None else frozenset()
