"""How old the last good backup is, which there are, and which deletions of projects have failed."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from functools import partial
from math import inf
from typing import Any, NamedTuple

from django.conf import settings
from django.db.models import QuerySet, Subquery
from django.db.models.functions import Now
from prometheus_client.core import GaugeMetricFamily, Metric

from apps.accounts.models import Project, ProjectDeletion, User
from apps.backups.enums import BACK_UP, DELETE_PROJECT
from apps.backups.models import Backup
from apps.backups.selectors.project_rows import count_rows
from apps.common.database.batched_reads import BatchedRead, once
from apps.jobs.core.progress import spoken
from apps.jobs.enums import JobState
from apps.jobs.models import Job

MOST_LOOKED_AT = 200


class FailedDeletion(NamedTuple):
    """A project that is closed to everybody and not yet gone. `error` is why the newest attempt that failed did."""

    name: str
    error: str


def failed_deletions() -> list[FailedDeletion]:
    """Those that are not finished and of which an attempt has failed, oldest first."""
    waiting = dict(ProjectDeletion.objects.filter(finished_at=None).order_by("pk").values_list("pk", "name"))
    if not waiting:
        return []
    tried = Job.objects.filter(kind=DELETE_PROJECT).exclude(error="").order_by("-pk")
    errors: dict[int, str] = {}
    for params, error in tried.values_list("params", "error")[:MOST_LOOKED_AT]:
        errors.setdefault(params["deletion"], error)
    return [FailedDeletion(name, errors[pk]) for pk, name in waiting.items() if pk in errors]


def backup_metrics(at: datetime) -> list[Metric]:
    """Infinity where there is no verified backup, so that an alert for an old one fires."""
    made = (
        Backup.objects.filter(verified_at__isnull=False).order_by("-made_at").values_list("made_at", flat=True).first()
    )
    age = inf if made is None else max(0.0, (at - made).total_seconds())
    return [GaugeMetricFamily("karat_backup_age_seconds", "Time since the last verified backup was made.", age)]


COUNTED = {
    "passages": "corpus_block",
    "queries": "queries_query",
    "Q&As": "triples_triple",
    "runs": "retrieval_run",
    "grades": "judging_judgement",
    "gold versions": "goldsets_version",
    "scored runs": "evaluation_evaluation",
    "uploaded files": "jobs_upload",
}
"""What people know of a project, and the table of each.

Neither verdicts nor events of history: while they grow, a lead who also reviews would learn what the other answered.
"""


class Content(NamedTuple):
    what: str
    rows: int


def contents_of(project: Project) -> list[Content]:
    """How much of each kind of thing there is."""
    return [Content(what, count_rows(project.pk, table)) for what, table in COUNTED.items()]


OLD_AFTER_INTERVALS = 2
MOST_SHOWN = 5
TRIED_AGAIN_AFTER = timedelta(minutes=15)


def is_due(at: datetime) -> bool:
    """Whether the last verified backup is as old as the interval, none is being made, and none failed just now."""
    since = at - timedelta(hours=settings.BACKUP_HOURS)
    lately = Backup.objects.filter(verified_at__isnull=False, made_at__gt=since)
    tried = Job.objects.filter(kind=BACK_UP, created_at__gt=at - TRIED_AGAIN_AFTER)
    return not (lately.exists() or tried.exists() or Job.objects.open().filter(kind=BACK_UP).exists())


class BackupStanding(NamedTuple):
    """How backups are: the last verified one, how old it is, and what operators are told on every page; "" if all is
    well.
    """

    notice: str
    made_at: datetime | None
    age_seconds: float | None


def notice_asked(user: User) -> BatchedRead[str]:
    """A sentence for operators when the last good backup is older than two intervals, or the last one failed.

    "" for everybody else, and where none is scheduled.
    """
    if not (settings.BACKUP_TO and user.is_operator):
        return BatchedRead({}, lambda _: "")
    tried = _tried()
    asks = {
        "made_at": Subquery(_verified().values("made_at")[:1]),
        "state": Subquery(tried.values("state")[:1]),
        "error": Subquery(tried.values("error")[:1]),
        "clock": Now(),
    }
    return BatchedRead(asks, lambda found: _standing(found).notice)


def standing(at: datetime) -> BackupStanding:
    """The same for an operator's page, whether or not one is scheduled."""
    return once("backups", partial(_standing_now, at))


def _standing_now(at: datetime) -> BackupStanding:
    made, tried = _verified().first(), _tried().first()
    facts = {"state": tried.state, "error": tried.error} if tried else {"state": None, "error": None}
    return _standing({"made_at": made.made_at if made else None, "clock": at, **facts})


def newest_backups() -> list[Backup]:
    """The newest that are still there, at most MOST_SHOWN."""
    return list(Backup.objects.filter(removed_at=None).order_by("-made_at")[:MOST_SHOWN])


def _verified() -> QuerySet[Backup]:
    return Backup.objects.filter(verified_at__isnull=False).order_by("-made_at")


def _tried() -> QuerySet[Job]:
    return Job.objects.filter(kind=BACK_UP).exclude(state__in=[JobState.QUEUED, JobState.RUNNING]).order_by("-pk")


def _standing(found: Mapping[str, Any]) -> BackupStanding:
    made_at = found["made_at"]
    age = None if made_at is None else max(0.0, (found["clock"] - made_at).total_seconds())
    return BackupStanding(_notice(age, found) if settings.BACKUP_TO else "", made_at, age)


def _notice(age: float | None, found: Mapping[str, Any]) -> str:
    failed = f" The last attempt failed: {found['error']}" if found["state"] == JobState.FAILED else ""
    if age is None:
        return f"There is no verified backup yet.{failed}" if failed else ""
    every = spoken(settings.BACKUP_HOURS * 3600)
    if failed or age > OLD_AFTER_INTERVALS * settings.BACKUP_HOURS * 3600:
        return f"The last verified backup was made {spoken(age)} ago; one is due every {every}.{failed}"
    return ""
