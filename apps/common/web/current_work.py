"""What this thread works on, a request or a job, known to all layers: audit events and the log name it."""

import re
import uuid
from contextvars import ContextVar, Token
from typing import NamedTuple

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
