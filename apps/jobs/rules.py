"""Why a job may not be touched, or None."""

from apps.accounts.enums import Role
from apps.accounts.models import User
from apps.jobs.enums import JobState
from apps.jobs.models import Job


def cancel_refusal(job: Job, *, actor: User, roles: frozenset[str]) -> str | None:
    if job.state not in {JobState.QUEUED, JobState.RUNNING}:
        return f"This job has ended: it is {job.get_state_display()}."
    if job.cancel_requested_at is not None:
        return "This job has already been asked to stop."
    if Role.LEAD not in roles and job.created_by_id != actor.pk:
        return "A job is cancelled by a lead or by the person who started it."
    return None


def retry_refusal(job: Job, *, roles: frozenset[str]) -> str | None:
    if job.state not in {JobState.FAILED, JobState.CANCELLED}:
        return f"Only a failed or cancelled job can be run again; this one is {job.get_state_display()}."
    if Role.LEAD not in roles:
        return "A job is run again by a lead."
    return None
