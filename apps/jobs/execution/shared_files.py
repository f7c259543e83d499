"""The store of several hosts, kept in step with the rows that name its files."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import NamedTuple

from apps.common.database.bulk import chunks
from apps.common.errors import Refusal
from apps.common.files import store
from apps.jobs.enums import UploadState
from apps.jobs.execution.periodic import periodic_task
from apps.jobs.models import Upload

AT_ONCE = 1_000
UNNAMED_FOR = timedelta(days=7)
"""A file is in the store before its row is committed; and an operator who restores an older backup has a week."""


class Filled(NamedTuple):
    """How many files were sent, and how many were there; and the names of those that neither has."""

    sent: int
    there: int
    missing: list[str]


@periodic_task("jobs.shared_files", every=timedelta(days=1))
def remove_unnamed(at: datetime) -> None:
    """Remove from the store what no row names: what a killed process has left. Raises BucketAway and Refusal."""
    if (shared := store.bucket()) is None:
        return
    if not store.is_ours(shared):
        raise Refusal(f"{shared.address} is the store of another server. Nothing is removed.", code="store_of_another")
    old = (each.name for each in store.stored() if each.at < at - UNNAMED_FOR)
    for names in chunks(old, AT_ONCE):
        store.remove(*sorted(set(names) - _named(names)))


def fill_store() -> Filled:
    """Send what this host has and the store lacks. Raises Refusal where there is none, or it is another server's."""
    if (shared := store.bucket()) is None:
        raise Refusal("There is no store. Set KARAT_STORE to s3://BUCKET/FOLDER first.", code="no_store")
    if not store.is_ours(shared):
        raise Refusal(f"{shared.address} is the store of another server. Nothing was sent.", code="store_of_another")
    there = {each.name for each in store.stored()}
    paths = Upload.objects.exclude(state=UploadState.DISCARDED).order_by("pk").values_list("path", flat=True)
    sent, missing = 0, []
    for path in paths.iterator():
        if path in there:
            continue
        if store.path_of(path).exists():
            store.keep(path)
            sent += 1
        else:
            missing.append(path)
    return Filled(sent, len(there), missing)


def _named(paths: Iterable[str]) -> set[str]:
    rows = Upload.objects.filter(path__in=paths).exclude(state=UploadState.DISCARDED)
    return set(rows.values_list("path", flat=True))
