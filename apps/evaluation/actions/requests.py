"""Requests that a job computes: one row for each distinct request, queued until it is computed."""

from datetime import datetime
from typing import Any, NamedTuple, TypeVar

from apps.accounts.models import User
from apps.audit.actions import record
from apps.evaluation.models import Requested
from apps.jobs.actions.jobs import enqueue
from apps.jobs.enums import JobState

OVER = frozenset({JobState.FAILED, JobState.CANCELLED})

Asked = TypeVar("Asked", bound=Requested)


class Errand(NamedTuple):
    """Of a kind of request: the audit event, the kind of job, and the parameter of the job with the row's key."""

    event: str
    job: str
    row: str


def ask_once(
    model: type[Asked],
    errand: Errand,
    *,
    known_by: dict[str, Any],
    facts: dict[str, Any],
    told: dict[str, Any],
    title: str,
    actor: User,
    at: datetime,
) -> Asked:
    """The row with the columns `known_by`, created with `facts` if it is new; `told` goes to the audit trail.

    A new row is queued, and so is one whose job failed or was cancelled before it was computed.
    """
    rows = model._default_manager.select_for_update(of=("self",))
    row, is_new = rows.get_or_create(**known_by, defaults={**facts, "requested_by": actor, "requested_at": at})
    if is_new:
        record(project=row.project, actor=actor, action=errand.event, obj=row, after=told, at=at)
    if is_new or _has_stopped(row):
        params = {errand.row: row.pk}
        row.job = enqueue(kind=errand.job, params=params, project=row.project, actor=actor, at=at, title=title)
        row.save(update_fields=["job"])
    return row


def _has_stopped(row: Requested) -> bool:
    return not row.is_computed and row.job is not None and row.job.state in OVER
