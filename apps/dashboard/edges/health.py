"""The health check for load balancers, containers and people with curl. Strangers get only "ok".

Here is also the door of all addresses for machines: /healthz, /readyz and /metrics.
"""

import platform
import sqlite3
from collections.abc import Callable, Mapping
from typing import NamedTuple

import django
from django.conf import settings
from django.db import DatabaseError, connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.http import require_safe

from apps.common.database.deadline import read_in_time
from apps.common.database.schema import FITS, SchemaGap, schema_gap
from apps.common.web.request_counts import count_as
from apps.common.web.tokens import is_bearer_of
from apps.dashboard.edges.metrics import metrics
from apps.jobs.selectors.jobs import MISSING_AFTER_SECONDS, worker_last_seen

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
