"""The end of a job that failed for good, and who else hears of it."""

from datetime import datetime

from django.db import transaction
from django.db.models import Q
from django.db.models.functions import Now
from django.urls import reverse

from apps.jobs import workflow
from apps.jobs.enums import JobStep, ServerEvent, WebhookEvent
from apps.jobs.execution.mailing import absolute
from apps.jobs.execution.webhooks import post_to_operators, post_to_webhooks
from apps.jobs.models import Job


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
