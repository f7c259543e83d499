"""The states of a job, and the one function that moves it."""

from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Q

from apps.accounts.models import User
from apps.audit.actions import record
from apps.jobs.enums import JobState, JobStep
from apps.jobs.models import Job
from apps.jobs.selectors.job_kinds import follow

EDGES: dict[tuple[str, str], JobState] = {
    (JobState.QUEUED, JobStep.CLAIM): JobState.RUNNING,
    (JobState.RUNNING, JobStep.RECLAIM): JobState.RUNNING,
    (JobState.RUNNING, JobStep.FINISH): JobState.DONE,
    (JobState.RUNNING, JobStep.TRY_AGAIN): JobState.QUEUED,
    (JobState.RUNNING, JobStep.GIVE_UP): JobState.FAILED,
    (JobState.QUEUED, JobStep.CANCEL): JobState.CANCELLED,
    (JobState.RUNNING, JobStep.CANCEL): JobState.CANCELLED,
    (JobState.FAILED, JobStep.RETRY): JobState.QUEUED,
    (JobState.CANCELLED, JobStep.RETRY): JobState.QUEUED,
}

EVENTS: dict[str, str] = {
    JobStep.CLAIM: "job.started",
    JobStep.RECLAIM: "job.taken_over",
    JobStep.FINISH: "job.done",
    JobStep.TRY_AGAIN: "job.put_back",
    JobStep.GIVE_UP: "job.failed",
    JobStep.CANCEL: "job.cancelled",
    JobStep.RETRY: "job.retried",
}


@transaction.atomic
def move(
    job_id: int,
    step: JobStep,
    *,
    where: Q | None = None,
    actor: User | None = None,
    at: datetime,
    **changes: Any,
) -> Job | None:
    """Move a job along one edge by one conditional update, with its audit event, or return None.

    `where` narrows the update further, to one attempt for example. None means that somebody else was first, or that the
    step does not start from the job's state: nothing was written.
    """
    state = Job.objects.filter(pk=job_id).values_list("state", flat=True).first()
    target = EDGES.get((state or "", step))
    if target is None:
        return None
    rows = Job.objects.filter(where or Q(), pk=job_id, state=state)
    if rows.update(state=target, **changes) != 1:
        return None
    job = Job.objects.get(pk=job_id)
    follow(job, at)
    record(
        project=job.project,
        actor=actor,
        action=EVENTS[step],
        obj=job,
        before={"state": state},
        after={"state": job.state, "attempt": job.attempt, **({"error": job.error} if job.error else {})},
        at=at,
    )
    return job
