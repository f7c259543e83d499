"""The health check for load balancers, containers and people with curl. Strangers get only "ok"."""

import platform
from collections.abc import Callable

import django
from django.conf import settings
from django.db import DatabaseError, connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils.crypto import constant_time_compare
from django.views.decorators.http import require_safe

from apps.jobs.selectors.jobs import worker_last_seen

NAMES = {"sqlite": "SQLite", "postgresql": "PostgreSQL"}
PATH = "/healthz"
VERSION_SQL = {"sqlite": "SELECT sqlite_version()", "postgresql": "SHOW server_version"}


@require_safe
def healthz(request: HttpRequest) -> JsonResponse:
    """200 with "ok"; 503 when the database does not answer. Versions and the worker are for `knows_more`."""
    try:
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
    if settings.HEALTH_TOKEN:
        kind, _, token = request.headers.get("Authorization", "").partition(" ")
        if kind.lower() == "bearer" and constant_time_compare(token.strip(), settings.HEALTH_TOKEN):
            return True
    return getattr(getattr(request, "user", None), "is_operator", False)


def answer_health(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Middleware that answers before the host is checked, since probes use addresses that no person types.

    Requests with a session are passed on to the view, which needs an allowed host.
    """

    def middleware(request: HttpRequest) -> HttpResponse:
        if request.path == PATH and settings.SESSION_COOKIE_NAME not in request.COOKIES:
            return healthz(request)
        return get_response(request)

    return middleware


def database_version() -> str:
    with connection.cursor() as cursor:
        cursor.execute(VERSION_SQL[connection.vendor])
        return cursor.fetchone()[0].split()[0]


def worker_line(seconds: int | None) -> str:
    return "worker never seen" if seconds is None else f"worker last seen {seconds} s ago"
