"""Middleware for the headers and ids of every response, and for bodies that are too long."""

import json
import logging
import re
import shutil
import sys
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from functools import cache
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse

from apps.common.web.forms import current_work, new_request_id, project_in, reset_request_id, set_request_id
from apps.common.web.problems import CONTENT_TYPE, facts_of
from apps.common.web.requests import DISK_RESERVE, KEPT_IN_MEMORY, most_bytes_at, too_large_in_words

HIDDEN = "***"
SHORTEST_SECRET = 8
"""Of what the operator has set: a shorter one would be found in ordinary words."""
SHAPES = re.compile(
    r"karat_[\w-]{20,}"  # tokens of the API
    r"|(?<![\w-])(?=[\w-]*[A-Z])(?=[\w-]*[a-z])[\w-]{43}(?![\w-])"  # links that work once, which are addresses
    r"|(?<=://)[^/\s:@]*:[^/\s@]+(?=@)"  # who signs in at a server, with their password
    r"|(?i:(?<=\bbearer )|(?<=\bbasic ))[\w.~+/=-]{8,}"
    r"|(?i:(?<=karat-session=)|(?<=karat-csrf=)|(?<=karat-device=)|(?<=password=)|(?<=token=)|(?<=secret=))[^\s;&,\"']+"
)
"""What a secret looks like: digests are hexadecimal, and are not among them."""


class NoTraceOfRefusals(logging.Filter):
    """Removes the traceback from lines about answers below 500, which are no fault of ours. Drops no line."""

    def filter(self, record: logging.LogRecord) -> bool:
        if getattr(record, "status_code", 500) < 500:
            record.exc_info, record.exc_text = None, None
        return True


class NamesOurVariable(logging.Filter):
    """Lets Django's line about a host that is not allowed name the variable that operators set. Drops no line."""

    def filter(self, record: logging.LogRecord) -> bool:
        if record.name == "django.security.DisallowedHost":
            record.msg, record.args = record.getMessage().replace("to ALLOWED_HOSTS", "to KARAT_ALLOWED_HOSTS"), ()
        return True


class Lines(logging.Formatter):
    """A line for each event, followed by its traceback."""

    def format(self, record: logging.LogRecord) -> str:
        return without_secrets(super().format(record))


class JsonLines(logging.Formatter):
    """A JSON object for each event: what is not known, such as the job of a request, is not in it."""

    def format(self, record: logging.LogRecord) -> str:
        found = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")[:-6] + "Z",
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
            **_about_work(getattr(record, "request", None)),
            "exception": self._exception(record),
        }
        hidden = {name: without_secrets(value) if isinstance(value, str) else value for name, value in found.items()}
        return json.dumps({name: value for name, value in hidden.items() if value})

    def _exception(self, record: logging.LogRecord) -> str:
        parts = [self.formatException(record.exc_info) if record.exc_info else record.exc_text, record.stack_info]
        return "\n".join(part for part in parts if part)


def _about_work(request: Any) -> dict[str, Any]:
    """What the thread works on. Django logs an answer once its request is over, and names the request."""
    work = current_work()
    return {
        "request_id": work.request_id or getattr(request, "request_id", ""),
        "job": work.job,
        "project": work.project or project_in(work.path or str(getattr(request, "path", ""))),
    }


def formatter(line: str, *, style: Any = "%", dates: str | None = None) -> logging.Formatter:
    """The one that `KARAT_LOG_FORMAT` asks for; `line` is how it looks for people."""
    return JsonLines() if settings.LOG_FORMAT == "json" else Lines(line, dates, style)


def without_secrets(text: str) -> str:
    """The text with each secret that the operator has set, and whatever looks like one, hidden."""
    for secret in _own_secrets():
        text = text.replace(secret, HIDDEN)
    return SHAPES.sub(HIDDEN, text)


@cache
def _own_secrets() -> tuple[str, ...]:
    databases = (str(database.get("PASSWORD") or "") for database in settings.DATABASES.values())
    broker = urlsplit(settings.BROKER_URL).password or ""
    keys, tokens = (settings.SECRET_KEY, settings.AUDIT_KEY), (settings.HEALTH_TOKEN, settings.METRICS_TOKEN)
    named = (*keys, *tokens, settings.EMAIL_HOST_PASSWORD, broker, *databases)
    return tuple(secret for secret in named if len(secret) >= SHORTEST_SECRET)


def log_what_python_prints() -> None:
    """Log warnings and errors that nobody caught, which Python writes to standard error as plain text."""
    log = logging.getLogger("python")
    logging.captureWarnings(True)

    def uncaught(kind: Any, problem: Any, trace: Any) -> None:
        if issubclass(kind, KeyboardInterrupt):
            sys.__excepthook__(kind, problem, trace)
        else:
            log.critical("Nobody caught this error.", exc_info=(kind, problem, trace))

    sys.excepthook = uncaught
    threading.excepthook = lambda about: uncaught(about.exc_type, about.exc_value, about.exc_traceback)


API = "/api/"
Handler = Callable[[HttpRequest], HttpResponse]
NO_ROOM = (
    "The server's disk is full, so nothing can be uploaded. Nothing was saved. Whoever runs Karat has to make room; "
    "then send it again."
)

CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self';"
    " font-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)


def request_id(get_response: Handler) -> Handler:
    """Give each request an id that audit events, the log and the answer's `X-Request-Id` share."""

    def middleware(request: HttpRequest) -> HttpResponse:
        value = new_request_id()
        request.request_id = value  # type: ignore[attr-defined]
        token = set_request_id(value, path=request.path)
        try:
            response = get_response(request)
        finally:
            reset_request_id(token)
        response["X-Request-Id"] = value
        return response

    return middleware


def limit_bodies(get_response: Handler) -> Handler:
    """Refuse a body that is too long for its address, or for the disk, before anybody is asked who sends it."""

    def middleware(request: HttpRequest) -> HttpResponse:
        most = most_bytes_at(request.path_info, settings.UPLOAD_MAX_BYTES)
        length = request.META.get("CONTENT_LENGTH") or "0"
        if not length.isdecimal() or int(length) > most:
            return _refusal(request, 413, "Content Too Large", too_large_in_words(most), "payload_too_large")
        if int(length) > KEPT_IN_MEMORY and shutil.disk_usage(settings.DATA_DIR).free < DISK_RESERVE:
            answer = _refusal(request, 503, "Service Unavailable", NO_ROOM, "no_room")
            answer["Retry-After"] = "60"
            return answer
        return get_response(request)

    return middleware


def _refusal(request: HttpRequest, status: int, title: str, detail: str, code: str) -> HttpResponse:
    if request.path_info.startswith(API):
        facts = facts_of(status=status, title=title, detail=detail, code=code)
        return JsonResponse(facts, status=status, content_type=CONTENT_TYPE)
    return HttpResponse(f"{title}. {detail}\n", status=status, content_type="text/plain; charset=utf-8")


def measure_bodies(get_response: Handler) -> Handler:
    """Tell the length of an answer, or the web server closes the connection after it; HEAD gets the length alone."""

    def middleware(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        if not response.streaming:
            response.headers.setdefault("Content-Length", str(len(response.content)))
        if request.method == "HEAD":
            _empty(response)
        return response

    return middleware


def _empty(response: HttpResponse) -> None:
    if response.streaming:
        response.streaming_content = []  # type: ignore[attr-defined]
    else:
        response.content = b""


def security_headers(get_response: Handler) -> Handler:
    """Set the content policy on every answer but files, and `no-store` on what only the signed-in may read."""

    def middleware(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        response.headers.setdefault("Content-Security-Policy", CONTENT_SECURITY_POLICY)
        response.headers.setdefault("Permissions-Policy", "camera=(), microphone=(), geolocation=()")
        response.headers.setdefault("Cache-Control", "no-store, private")
        return response

    return middleware
