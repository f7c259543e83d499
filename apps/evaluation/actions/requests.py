"""Asking for what a job computes: one row for one question, in the queue until it is answered."""

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
    """How the trail calls the question, which job answers it, and what the row is called in the job's parameters."""

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
    """The row known by these columns, made with `facts` and `told` to the trail unless it is there.

    A new one is put in the queue, and so is one whose job failed or was cancelled before it was computed.
    """
    rows = model._default_manager.select_for_update(of=("self",))
    asked, is_new = rows.get_or_create(**known_by, defaults={**facts, "requested_by": actor, "requested_at": at})
    if is_new:
        record(project=asked.project, actor=actor, action=errand.event, obj=asked, after=told, at=at)
    if is_new or _has_stopped(asked):
        params = {errand.row: asked.pk}
        asked.job = enqueue(kind=errand.job, params=params, project=asked.project, actor=actor, at=at, title=title)
        asked.save(update_fields=["job"])
    return asked


def _has_stopped(asked: Requested) -> bool:
    return not asked.is_computed and asked.job is not None and asked.job.state in OVER
