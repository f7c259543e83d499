"""Deletions of projects that failed and are tried again."""

from typing import NamedTuple

from apps.accounts.models import ProjectDeletion
from apps.backups.enums import DELETE_PROJECT
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
