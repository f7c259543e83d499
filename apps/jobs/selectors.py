"""Reading jobs. Every job is found through its project."""

from datetime import datetime

from django.db.models import QuerySet
from django.db.models.functions import Now
from django.http import Http404

from apps.accounts.models import Project
from apps.jobs.models import Job, WorkerBeat
from apps.jobs.progress import spoken

MISSING_AFTER_SECONDS = 60


def jobs_in(project: Project) -> QuerySet[Job]:
    return Job.objects.filter(project=project).select_related("created_by").order_by("-pk")


def job_in(project: Project, pk: int) -> Job:
    """The job, when it belongs to this project; Http404 otherwise."""
    try:
        return jobs_in(project).get(pk=pk)
    except Job.DoesNotExist:
        raise Http404("No such job.") from None


def worker_last_seen() -> int | None:
    """Whole seconds since any worker showed itself, by the database's clock; None when none ever did."""
    row = WorkerBeat.objects.order_by("-seen_at").annotate(clock=Now()).values_list("seen_at", "clock").first()
    return None if row is None else max(0, int((row[1] - row[0]).total_seconds()))


def worker_notice(now: datetime | None = None) -> str:
    """The sentence of the banner when no worker is at work, else "".

    `now` stands in for the database's clock where the caller has a reason to ask about another moment.
    """
    if now is None:
        seconds = worker_last_seen()
    else:
        seen_at = WorkerBeat.objects.order_by("-seen_at").values_list("seen_at", flat=True).first()
        seconds = None if seen_at is None else max(0, int((now - seen_at).total_seconds()))
    if seconds is None:
        return "No worker has been seen yet. Imports, pools and scores wait until one runs."
    if seconds > MISSING_AFTER_SECONDS:
        return f"No worker has been seen for {spoken(seconds)}. Imports, pools and scores wait until one runs."
    return ""
