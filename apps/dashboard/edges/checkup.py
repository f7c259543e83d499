"""Is everything all right? Looks at each part of this server, for the operator's page and for `karat doctor`."""

import shutil
import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from django.conf import settings
from django.core.checks import Tags, run_checks
from django.db import DatabaseError, connection

from apps.audit.selectors.events import newest_event_at
from apps.backups.selectors.backups import failed_deletions, standing
from apps.common.database.questions import once
from apps.common.database.schema import FITS, SchemaGap, schema_gap
from apps.common.files import store
from apps.common.files.hosts import own_id
from apps.common.files.private import closed_to_us, open_to_others
from apps.common.web import forwarding
from apps.dashboard.core import checkup
from apps.dashboard.core.checkup import Check
from apps.dashboard.edges.health import NAMES, database_version
from apps.dashboard.enums import CheckStanding
from apps.jobs.enums import DeliveryKind
from apps.jobs.execution.probes import broker_fault, broker_name, mail_server_fault, store_fault
from apps.jobs.selectors.database_clock import seconds_ahead
from apps.jobs.selectors.jobs import MISSING_AFTER_SECONDS
from apps.jobs.selectors.watching import oldest_queued_seconds, unsent, workers_seen

OWN_CHECKS = "karat."


def check_up(*, at: datetime, thoroughly: bool) -> list[Check]:
    """All checks, what needs somebody first. Nothing is changed.

    Without `thoroughly` no other server than the database is asked: broker and mail are judged by what is on record.
    """
    try:
        gap, milliseconds = _asked()
    except DatabaseError as problem:
        return checkup.in_order([_no_database(problem), *_on_this_machine(thoroughly)])
    version = database_version()
    database = checkup.database_check(
        engine=NAMES[connection.vendor], version=version, milliseconds=milliseconds, schema=gap.words
    )
    if gap != FITS:
        return checkup.in_order([database, *_on_this_machine(thoroughly)])
    rows = [_worker(), _hosts(thoroughly), _clock(at), _mail(at, thoroughly), _webhooks(at), _backup(at), _deletions()]
    return checkup.in_order([database, *rows, *_on_this_machine(thoroughly)])


def _asked() -> tuple[SchemaGap, float]:
    begun = time.perf_counter()
    gap = once("schema", schema_gap)
    return gap, (time.perf_counter() - begun) * 1000


def _no_database(problem: Exception) -> Check:
    return Check(
        "Database",
        CheckStanding.BROKEN,
        f"It does not answer: {str(problem).strip()}",
        "Start it, or correct `DATABASE_URL`.",
        trouble="the database does not answer",
    )


def _on_this_machine(thoroughly: bool) -> list[Check]:
    """What can be told without the database."""
    looks: list[Callable[[], Check]] = [_disk, _files, _set_up]
    is_near = settings.BROKER_URL.startswith("filesystem://")
    fault = broker_fault() if thoroughly or is_near else None
    return [checkup.broker_check(broker=broker_name(), fault=fault), *[look() for look in looks]]


def _worker() -> Check:
    workers = workers_seen()
    return checkup.worker_check(
        workers=sum(worker.is_at_work for worker in workers),
        seen_seconds=workers[0].seconds if workers else None,
        missing_after=MISSING_AFTER_SECONDS,
        oldest_job=oldest_queued_seconds(),
    )


def _hosts(thoroughly: bool) -> Check:
    others = {worker.host for worker in workers_seen() if worker.is_at_work} - {"", own_id()}
    shared = store.bucket()
    fault = store_fault(shared) if shared and thoroughly else None
    return checkup.hosts_check(others=len(others), store=settings.STORE, fault=fault)


def _clock(at: datetime) -> Check:
    newest = newest_event_at()
    back = (newest - at).total_seconds() if newest else 0.0
    return checkup.clock_check(seconds_off=seconds_ahead(), seconds_back=back)


def _mail(at: datetime, thoroughly: bool) -> Check:
    queue = unsent(DeliveryKind.MAIL, at)
    return checkup.mail_check(queue, server=settings.EMAIL_HOST, fault=mail_server_fault() if thoroughly else None)


def _webhooks(at: datetime) -> Check:
    return checkup.webhooks_check(unsent(DeliveryKind.WEBHOOK, at))


def _backup(at: datetime) -> Check:
    found = standing(at)
    return checkup.backup_check(
        notice=found.notice,
        age_seconds=found.age_seconds,
        every_hours=settings.BACKUP_HOURS,
        is_scheduled=bool(settings.BACKUP_TO),
    )


def _deletions() -> Check:
    return checkup.deletions_check(failed_deletions())


def _disk() -> Check:
    folder = Path(settings.DATA_DIR)
    nearest = next(place for place in (folder, *folder.parents) if place.exists())
    total, _, free = shutil.disk_usage(nearest)
    return checkup.disk_check(total=total, free=free, folder=str(folder))


def _files() -> Check:
    folder = Path(settings.DATA_DIR)
    return checkup.files_check(
        folder=str(folder),
        open_to_others=[str(path) for path in open_to_others(folder)],
        closed_to_us=[str(path) for path in closed_to_us(folder)],
    )


def _set_up() -> Check:
    """What Karat's own checks of the settings say, and the faults of the proxy that this process has seen."""
    messages = [message for message in run_checks(tags=[Tags.security]) if str(message.id).startswith(OWN_CHECKS)]
    return checkup.set_up_check([*(f"{message.msg} {message.hint}" for message in messages), *forwarding.seen])
