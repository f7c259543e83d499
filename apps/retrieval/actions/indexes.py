"""Requesting the indexes of a snapshot, so that systems can answer inside a request."""

from datetime import datetime

from django.db import transaction

from apps.accounts.models import Project, User
from apps.corpus.models import Snapshot
from apps.corpus.selectors.corpora import snapshot_in
from apps.jobs.actions.jobs import enqueue
from apps.jobs.models import Job
from apps.retrieval.enums import INDEX
from apps.retrieval.selectors.systems import indexing_job


@transaction.atomic
def request_indexes(*, project: Project, snapshot_id: int, actor: User, at: datetime) -> Job:
    """Queue a job that builds every index of the project on the snapshot, or return an unfinished one."""
    Project.objects.select_for_update().get(pk=project.pk)
    snapshot: Snapshot = snapshot_in(project, snapshot_id)
    unfinished = indexing_job(snapshot)
    if unfinished is not None:
        return unfinished
    title = f"Index {snapshot.name}"
    return enqueue(kind=INDEX, params={"snapshot_id": snapshot.pk}, project=project, actor=actor, at=at, title=title)
