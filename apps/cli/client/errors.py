"""What can go wrong between a client and a server."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


class KaratError(Exception):
    """Every error of the client. The text is a sentence to show."""


class NoAnswer(KaratError):
    """No server answered, or what answered is no Karat. Whether a request had an effect is not known."""


class FaultyFile(KaratError):
    """A file that cannot be imported as it is. `errors` has the first mistakes, each with file, line, field, value and
    message; `plan` is the preview of all of it."""

    def __init__(self, name: str, plan: Mapping[str, Any]) -> None:
        self.plan = plan
        self.errors: list[dict[str, Any]] = plan.get("errors", [])
        total = plan.get("errors_total", len(self.errors))
        first = f" The first: {_in_words(self.errors[0])}" if self.errors else ""
        mistakes = "1 mistake" if total == 1 else f"{total:,} mistakes"
        super().__init__(f"{name} has {mistakes}. Nothing was imported.{first}")


def _in_words(error: Mapping[str, Any]) -> str:
    line = f", line {error['line']}" if error["line"] else ""
    field = f", {error['field']}" if error["field"] else ""
    return f"{error['file']}{line}{field}: {error['message']}"


class Problem(KaratError):
    """An error that the server answered with (RFC 9457). Branch on `code`, which is stable, and not on `detail`."""

    def __init__(self, status: int, facts: Mapping[str, Any], request_id: str = "") -> None:
        self.status = status
        self.code = str(facts.get("code") or "")
        self.title = str(facts.get("title") or "")
        self.detail = str(facts.get("detail") or self.title or f"The server answered {status}.")
        self.errors: Any = facts.get("errors") or []
        self.request_id = request_id
        super().__init__(self.detail)


class BadInput(Problem):
    """400, 413, 415: something in the request cannot be used. `errors` lists every mistake, where there are several."""


class Denied(Problem):
    """401, 403: the token is unknown or has ended, or may not do this."""


class NotThere(Problem):
    """404: not there, or not in the project of the token."""


class Rejected(Problem):
    """409: a rule is against it; `code` is its name."""


class NotReady(Problem):
    """429, 503: too early, too often or too much at once, and still so after every attempt."""


KINDS: dict[int, type[Problem]] = {
    400: BadInput,
    401: Denied,
    403: Denied,
    404: NotThere,
    409: Rejected,
    413: BadInput,
    415: BadInput,
    429: NotReady,
    503: NotReady,
}


def problem_of(status: int, body: bytes, request_id: str = "") -> Problem:
    """The error for an answer, also for one that some proxy gave in between, which is no problem+json."""
    try:
        facts = json.loads(body)
    except ValueError:
        facts = {}
    return KINDS.get(status, Problem)(status, facts if isinstance(facts, dict) else {}, request_id)
