"""The log: lines for people, or a JSON object in each line for machines. Neither contains a secret.

And what a thread works on, a request or a job, known to all layers: audit events and the log name it.
"""

import json
import logging
import re
import sys
import threading
import uuid
from contextvars import ContextVar, Token
from datetime import UTC, datetime
from functools import cache
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from django.conf import settings

OF_A_PROJECT = re.compile(r"/(?:p|api/v1/projects)/([-a-zA-Z0-9_]{1,100})/")


class Work(NamedTuple):
    """What a thread works on: a request at `path`, or the job with this number and the slug of its project."""

    request_id: str = ""
    path: str = ""
    job: int | None = None
    project: str = ""


NOTHING = Work()
_work: ContextVar[Work] = ContextVar("karat_work", default=NOTHING)


def current_work() -> Work:
    return _work.get()


def current_request_id() -> str:
    """The id of the current request or job, or "" outside of both."""
    return _work.get().request_id


def set_request_id(value: str, *, path: str = "", job: int | None = None, project: str = "") -> Token[Work]:
    return _work.set(Work(value, path, job, project))


def reset_request_id(token: Token[Work]) -> None:
    _work.reset(token)


def project_in(path: str) -> str:
    """The slug of the project that an address names, whether there is one or not; "" where it names none."""
    match = OF_A_PROJECT.match(path)
    return match[1] if match else ""


def new_request_id() -> str:
    return uuid.uuid4().hex


def agent_request_id(token: int, tool: str) -> str:
    """The id of what an agent asks: by it an event tells the agent's token and the tool."""
    return f"agent.{token}.{tool}.{uuid.uuid4().hex[:8]}"


def agent_in(request_id: str) -> tuple[int, str] | None:
    """The token and the tool in the id of what an agent asked; None for every other id."""
    match = _OF_AN_AGENT.fullmatch(request_id)
    return (int(match[1]), match[2]) if match else None


_OF_AN_AGENT = re.compile(r"agent\.(\d{1,19})\.([a-z_]{1,30})\.[0-9a-f]{8}")


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
