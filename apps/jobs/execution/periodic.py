"""Periodic tasks: each is done once in its interval, for any number of workers."""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache

from django.db.models import Q
from django.db.models.functions import Now

from apps.common.database.functions import from_now
from apps.common.discovery import load_layers
from apps.jobs.models import PeriodicTask

log = logging.getLogger(__name__)

Work = Callable[[datetime], None]

NEVER = datetime(1970, 1, 1, tzinfo=UTC)
STEP_BACK_SECONDS = 60


@dataclass(frozen=True)
class TaskKind:
    name: str
    every: timedelta
    work: Work

    @property
    def is_due(self) -> Q:
        """The interval has passed; or it was last taken in the future, since the database's clock was set back."""
        last = -self.every.total_seconds()
        return Q(name=self.name) & (Q(taken_at__lte=from_now(last)) | Q(taken_at__gt=from_now(STEP_BACK_SECONDS)))


_kinds: dict[str, TaskKind] = {}


def periodic_task(name: str, *, every: timedelta) -> Callable[[Work], Work]:
    """Register `work(at)` to be done once in every `every`, by one worker.

    Tasks are loaded from the layers `execution` and `actions` of the apps. One that raises is logged and repeated after
    the interval, and so is one whose worker was killed: it must be able to continue where it stopped.
    """

    def register(work: Work) -> Work:
        _kinds[name] = TaskKind(name, every, work)
        return work

    return register


@cache
def _load_all() -> None:
    load_layers("execution", "actions")


def due() -> list[str]:
    """The names of the tasks that are due. A task that was never done is due."""
    _load_all()
    is_due = Q(pk__in=[])
    for kind in _kinds.values():
        is_due |= kind.is_due
    resting = PeriodicTask.objects.filter(name__in=_kinds).exclude(is_due).values_list("name", flat=True)
    return sorted(set(_kinds).difference(resting))


def do(name: str, *, at: datetime) -> bool:
    """Claim the task by one conditional update and do it. False when it was not due or another worker has it."""
    _load_all()
    kind = _kinds.get(name)
    if kind is None or not _take(kind):
        return False
    try:
        kind.work(at)
    except Exception:
        log.exception("The task %s failed. It is repeated in %s.", name, kind.every)
    return True


def _take(kind: TaskKind) -> bool:
    rows = PeriodicTask.objects.filter(kind.is_due)
    if rows.update(taken_at=Now()):
        return True
    PeriodicTask.objects.bulk_create([PeriodicTask(name=kind.name, taken_at=NEVER)], ignore_conflicts=True)
    return rows.update(taken_at=Now()) == 1
