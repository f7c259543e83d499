"""The health check for load balancers, containers and people with curl, and the checkup of a server by its operators.

Here is also the door of all addresses for machines: /healthz, /readyz and /metrics.
"""

import platform
import shutil
import sqlite3
import time
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

import django
from django.conf import settings
from django.core.checks import Tags, run_checks
from django.db import DatabaseError, connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.http import require_safe

from apps.audit.selectors.events import newest_event_at
from apps.backups.selectors.backups import failed_deletions, standing
from apps.common.database.batched_reads import once
from apps.common.database.functions import seconds_ahead
from apps.common.database.schema import FITS, SchemaGap, schema_gap
from apps.common.files import store
from apps.common.files.private import closed_to_us, open_to_others
from apps.common.web import requests
from apps.common.web.request_counts import count_as
from apps.common.web.tokens import is_bearer_of
from apps.dashboard.core import checkup
from apps.dashboard.core.checkup import Check
from apps.dashboard.enums import CheckStanding
from apps.dashboard.pages.metrics import metrics, read_in_time
from apps.jobs.enums import DeliveryKind
from apps.jobs.execution.probes import broker_fault, broker_name, mail_server_fault, store_fault
from apps.jobs.execution.sweep import own_id
from apps.jobs.selectors.jobs import MISSING_AFTER_SECONDS, worker_last_seen
from apps.jobs.selectors.watching import oldest_queued_seconds, unsent, workers_seen

OK, NOT_READY = "ok", "not ready"


class Found(NamedTuple):
    """What the database says; the worker is not looked for in tables of another version."""

    gap: SchemaGap
    worker_seconds: int | None = None

    @property
    def parts(self) -> dict[str, bool]:
        is_seen = self.worker_seconds is not None and self.worker_seconds <= MISSING_AFTER_SECONDS
        return {"database": True, "schema": self.gap == FITS, "worker": is_seen}


@require_safe
def readyz(request: HttpRequest) -> JsonResponse:
    """200 when the database answers, its tables are those of this version, and a worker was seen in the last minute.

    Otherwise 503, with the parts that are not ready. Details are for those who have the health token.
    """
    try:
        found = read_in_time(_look)
    except DatabaseError:
        return _not_ready({"database": NOT_READY})
    is_ready = all(found.parts.values())
    parts = {name: OK if is_well else NOT_READY for name, is_well in found.parts.items()}
    details = _details(found) if is_bearer_of(settings.HEALTH_TOKEN, request) else {}
    if is_ready:
        return JsonResponse({"status": "ready", **details})
    return _not_ready(parts | details)


def _not_ready(parts: Mapping[str, object]) -> JsonResponse:
    """An answer, not a fault: a balancer asks every few seconds, and Django would log each as an error."""
    answer = JsonResponse({"status": NOT_READY, **parts}, status=503)
    answer._has_been_logged = True  # type: ignore[attr-defined]  # as Django marks it
    return answer


def _look() -> Found:
    gap = schema_gap()
    return Found(gap, worker_last_seen()) if gap == FITS else Found(gap)


def _details(found: Found) -> dict[str, object]:
    return {
        "karat": settings.VERSION,
        "schema_is": found.gap.words or "that of this version of Karat",
        "worker_seconds": found.worker_seconds,
    }


NAMES = {"sqlite": "SQLite", "postgresql": "PostgreSQL"}


@require_safe
def healthz(request: HttpRequest) -> JsonResponse:
    """200 with "ok"; 503 when the database does not answer. Versions and the worker are for `knows_more`."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
        database = {"engine": NAMES[connection.vendor], "version": database_version()}
        if not knows_more(request):
            return JsonResponse({"status": "ok"})
        seconds = worker_last_seen()
    except DatabaseError:
        return JsonResponse({"status": "the database does not answer"}, status=503)
    about = {"karat": settings.VERSION, "python": platform.python_version(), "django": django.get_version()}
    return JsonResponse(
        {"status": "ok", **about, "database": database, "worker": worker_line(seconds), "worker_seconds": seconds}
    )


def knows_more(request: HttpRequest) -> bool:
    """Whether the answer may name versions: to signed-in operators, and to monitors with the health token."""
    is_operator: bool = getattr(getattr(request, "user", None), "is_operator", False)
    return is_operator or is_bearer_of(settings.HEALTH_TOKEN, request)


FOR_MACHINES: dict[str, Callable[[HttpRequest], HttpResponse]] = {
    "/healthz": healthz,
    "/readyz": readyz,
    "/metrics": metrics,
}


def answer_machines(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Middleware that answers before the host is checked, since probes use addresses that no person types.

    Requests to /healthz with a session are passed on to the view, which needs an allowed host.
    """

    def middleware(request: HttpRequest) -> HttpResponse:
        view = FOR_MACHINES.get(request.path)
        if view is None or (view is healthz and settings.SESSION_COOKIE_NAME in request.COOKIES):
            return get_response(request)
        count_as(request, request.path.removeprefix("/"))
        answer = view(request)
        answer.headers["X-Frame-Options"] = settings.X_FRAME_OPTIONS
        return answer

    return middleware


def database_version() -> str:
    """The version of the server, which PostgreSQL says when one connects, or of the library."""
    connection.ensure_connection()
    if connection.vendor == "postgresql":
        return str(connection.connection.info.parameter_status("server_version") or "").split()[0]
    return sqlite3.sqlite_version


def worker_line(seconds: int | None) -> str:
    return "worker never seen" if seconds is None else f"worker last seen {seconds} s ago"


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
    webhooks = checkup.webhooks_check(unsent(DeliveryKind.WEBHOOK, at))
    deletions = checkup.deletions_check(failed_deletions())
    rows = [_worker(), _hosts(thoroughly), _clock(at), _mail(at, thoroughly), webhooks, _backup(at), deletions]
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


def _backup(at: datetime) -> Check:
    found = standing(at)
    return checkup.backup_check(
        notice=found.notice,
        age_seconds=found.age_seconds,
        every_hours=settings.BACKUP_HOURS,
        is_scheduled=bool(settings.BACKUP_TO),
    )


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
    return checkup.set_up_check([*(f"{message.msg} {message.hint}" for message in messages), *requests.seen])
