"""Running jobs inside a test, without a worker."""

from django.utils import timezone

from apps.jobs.enums import JobState
from apps.jobs.execution.performing import perform
from apps.jobs.models import Job


def run_jobs(*, limit: int = 1_000) -> list[Job]:
    """Do every waiting job in this process, oldest first, jobs that jobs enqueue included.

    Returns each job as it ended, failed ones too; attempts follow each other without a wait.
    """
    ended: dict[int, Job] = {}
    for _ in range(limit):
        Job.objects.filter(state=JobState.QUEUED).update(next_at=None)
        job_id = Job.objects.filter(state=JobState.QUEUED).order_by("pk").values_list("pk", flat=True).first()
        if job_id is None:
            return list(ended.values())
        job = perform(job_id, worker="test", clock=timezone.now, with_heartbeat=False)
        if job is not None:
            ended[job_id] = job
    raise AssertionError(f"There was still work after {limit} jobs.")
