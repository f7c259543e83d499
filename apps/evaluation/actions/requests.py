"""Requests that a job computes: one row for each distinct request, queued until it is computed."""

from datetime import datetime
from typing import Any, NamedTuple, TypeVar

from apps.accounts.models import User
from apps.audit.actions import record
from apps.evaluation.models import Requested
from apps.jobs.actions.jobs import enqueue
from apps.jobs.enums import JobState

OVER = frozenset({JobState.FAILED, JobState.CANCELLED})

AnyRequested = TypeVar("AnyRequested", bound=Requested)


class RequestKind(NamedTuple):
    """The audit event and the job kind of a request, and the job parameter that is the row's key."""

    event: str
    job: str
    row: str


def request_once(
    model: type[AnyRequested],
    kind: RequestKind,
    *,
    identity: dict[str, Any],
    columns: dict[str, Any],
    audit_facts: dict[str, Any],
    title: str,
    actor: User,
    at: datetime,
    is_queued: bool = True,
) -> AnyRequested:
    """The row with the columns `identity`, created with `columns` too if it is new; `audit_facts` are for its event.

    A new row is queued, and so is one whose job failed or was cancelled before it was computed; not where the caller
    queues several rows in one job, without `is_queued`.
    """
    rows = model._base_manager.select_for_update(of=("self",))
    row, is_new = rows.get_or_create(**identity, defaults={**columns, "requested_by": actor, "requested_at": at})
    if is_new:
        record(project=row.project, actor=actor, action=kind.event, obj=row, after=audit_facts, at=at)
    if is_queued and (is_new or has_stopped(row)):
        params = {kind.row: row.pk}
        row.job = enqueue(kind=kind.job, params=params, project=row.project, actor=actor, at=at, title=title)
        row.save(update_fields=["job"])
    return row


def has_stopped(row: Requested) -> bool:
    return not row.is_computed and row.job is not None and row.job.state in OVER
