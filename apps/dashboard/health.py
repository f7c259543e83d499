"""Is Karat well? For load balancers, containers and people with curl: no sign-in, no secrets."""

import platform
from collections.abc import Callable

import django
from django.conf import settings
from django.db import DatabaseError, connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.http import require_safe

from apps.jobs.selectors import worker_last_seen

NAMES = {"sqlite": "SQLite", "postgresql": "PostgreSQL"}
PATH = "/healthz"
VERSION_SQL = {"sqlite": "SELECT sqlite_version()", "postgresql": "SHOW server_version"}


@require_safe
def healthz(request: HttpRequest) -> JsonResponse:
    """200 with versions and the worker's last sign of life; 503 when the database does not answer."""
    about = {"karat": settings.VERSION, "python": platform.python_version(), "django": django.get_version()}
    try:
        database = {"engine": NAMES[connection.vendor], "version": database_version()}
        seconds = worker_last_seen()
    except DatabaseError:
        return JsonResponse({"status": "the database does not answer", **about}, status=503)
    return JsonResponse(
        {"status": "ok", **about, "database": database, "worker": worker_line(seconds), "worker_seconds": seconds}
    )


def answer_health(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Middleware that answers before the host is checked: probes come by an address that no person types."""

    def middleware(request: HttpRequest) -> HttpResponse:
        return healthz(request) if request.path == PATH else get_response(request)

    return middleware


def database_version() -> str:
    with connection.cursor() as cursor:
        cursor.execute(VERSION_SQL[connection.vendor])
        return cursor.fetchone()[0].split()[0]


def worker_line(seconds: int | None) -> str:
    return "worker never seen" if seconds is None else f"worker last seen {seconds} s ago"
