"""Rules about cancelling and retrying jobs. Each returns the reason against it, or None."""

from apps.accounts.enums import Role
from apps.accounts.models import User
from apps.jobs.enums import JobState
from apps.jobs.models import Job


def cancel_refusal(job: Job, *, actor: User, roles: frozenset[str]) -> str | None:
    if job.state not in {JobState.QUEUED, JobState.RUNNING}:
        return f"This job has already ended: it is {job.get_state_display()}."
    if job.cancel_requested_at is not None:
        return "This job is already stopping."
    if Role.LEAD not in roles and job.created_by_id != actor.pk:
        return "Only a lead or the person who started a job can cancel it."
    return None


def retry_refusal(job: Job, *, roles: frozenset[str]) -> str | None:
    if job.state not in {JobState.FAILED, JobState.CANCELLED}:
        return f"Only a failed or cancelled job can be retried; this one is {job.get_state_display()}."
    if Role.LEAD not in roles:
        return "Only a lead can retry a job."
    return None
