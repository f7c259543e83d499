"""What engines that ask somebody else have in common."""

import base64
import json
import math
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any, ClassVar, NamedTuple, Protocol

from apps.retrieval.core.engines.base import BadParameters, Parameters

AUTHS = ("none", "bearer", "api_key", "basic", "header")
KEPT_BY_KARAT = {
    "authorization",
    "connection",
    "content-length",
    "content-type",
    "cookie",
    "host",
    "proxy-authorization",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
}
LONGEST_ID = 300
MOST_HEADERS = 20
_HEADER = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,80}")
_NO_TEXT = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")
_VALUE = re.compile(r"[\x20-\x7e]{0,1000}")


class RemoteQuery(NamedTuple):
    """One query, as the other side hears of it."""

    query_id: str
    text: str


class Request(NamedTuple):
    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes | None


class Reply(NamedTuple):
    """What came back: `seconds` from sending the request until the last byte."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    seconds: float


class RemoteHit(NamedTuple):
    """One result. `score` is None when the other side gives an order alone."""

    id: str
    score: float | None


class RemoteAnswer(NamedTuple):
    """An answer read: its hits in the order given, and why it may lack some ("" when it does not)."""

    hits: list[RemoteHit]
    incomplete: str = ""


class RemoteError(Exception):
    """A query that was not answered. The sentence holds nothing of what the other side wrote.

    `is_passing`: asking again may help, after `wait` seconds when the other side said so. `is_final`: every other
    query would meet the same.
    """

    def __init__(
        self, sentence: str, *, is_passing: bool = False, is_final: bool = False, wait: float | None = None
    ) -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.is_passing = is_passing
        self.is_final = is_final
        self.wait = wait


Send = Callable[[Request], Reply]
Locate = Callable[[Collection[str]], Mapping[str, int]]


class RemoteEngine(Protocol):
    """An engine without an index: it says what to send for a query, and reads what comes back."""

    name: ClassVar[str]
    needs_index: ClassVar[bool]

    @property
    def address(self) -> str: ...

    @property
    def auth(self) -> "Auth": ...

    def identity(self) -> Parameters: ...

    def request(self, asked: RemoteQuery, k: int) -> Request: ...

    def read(self, reply: Reply) -> RemoteAnswer:
        """Raises RemoteError when the reply is no answer."""
        ...


@dataclass(frozen=True)
class Auth:
    """How requests are signed: with which secret of the project, by its name. The value is never in here."""

    kind: str = "none"
    secret: str = ""
    user: str = ""
    header: str = ""

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> "Auth":
        """Raises BadParameters."""
        auth = cls(**{key: str(values[key]).strip() for key in ("kind", "secret", "user", "header") if key in values})
        if auth.kind not in AUTHS:
            raise BadParameters(f"{auth.kind!r} is not a way to sign in; choose one of {', '.join(AUTHS)}.")
        if auth.kind == "none":
            return cls()
        if not auth.secret:
            raise BadParameters("Choose the secret to sign in with.")
        if auth.kind == "basic" and (not auth.user or ":" in auth.user or not _VALUE.fullmatch(auth.user)):
            raise BadParameters("Basic authentication needs a user name, without a colon.")
        if auth.kind == "header" and (not _HEADER.fullmatch(auth.header) or _is_kept(auth.header)):
            raise BadParameters("Name the header that carries the secret, such as X-Api-Key.")
        user = auth.user if auth.kind == "basic" else ""
        return cls(auth.kind, auth.secret, user, auth.header if auth.kind == "header" else "")

    def headers(self, value: str) -> dict[str, str]:
        """The header that carries the secret's value."""
        if self.kind == "basic":
            pair = base64.b64encode(f"{self.user}:{value}".encode()).decode()
            return {"Authorization": f"Basic {pair}"}
        if self.kind == "header":
            return {self.header: value}
        words = {"bearer": "Bearer", "api_key": "ApiKey"}
        return {"Authorization": f"{words[self.kind]} {value}"} if self.kind in words else {}

    def values(self) -> dict[str, str]:
        return {"kind": self.kind, "secret": self.secret, "user": self.user, "header": self.header}


def _is_kept(header: str) -> bool:
    return header.lower() in KEPT_BY_KARAT


def checked_headers(values: Mapping[str, Any]) -> dict[str, str]:
    """Headers as given, by name. Raises BadParameters for those that Karat sets itself or that carry secrets."""
    if len(values) > MOST_HEADERS:
        raise BadParameters(f"At most {MOST_HEADERS} headers.")
    for name, value in values.items():
        if not _HEADER.fullmatch(name) or not isinstance(value, str) or not _VALUE.fullmatch(value):
            raise BadParameters(f"The header “{name[:80]}” holds a character that no header may hold.")
        if _is_kept(name):
            raise BadParameters(f"{name} is not set by hand. Use a secret of the project to sign in.")
    return {name: str(values[name]) for name in sorted(values)}


def parsed(reply: Reply) -> Any:
    """The JSON of an answer. Raises RemoteError for anything else, NaN and infinities included."""
    try:
        return json.loads(reply.body, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        raise RemoteError("The answer is not JSON.") from None


def _refuse_constant(name: str) -> float:
    raise ValueError(name)


def checked_id(value: Any, number: int) -> str:
    """An id as text: a string, or a whole number written out. Raises RemoteError."""
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str) or not 0 < len(value) <= LONGEST_ID:
        raise RemoteError(f"The id of item {number} is neither a text of at most {LONGEST_ID} characters nor a number.")
    if _NO_TEXT.search(value):
        raise RemoteError(f"The id of item {number} holds a character that no id can hold.")
    return value


def checked_score(value: Any, number: int) -> float:
    """A score as a number. Raises RemoteError."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise RemoteError(f"The score of item {number} is not a number.")
    try:
        score = float(value)
    except OverflowError:
        score = math.inf
    if not math.isfinite(score):
        raise RemoteError(f"The score of item {number} is not a finite number.")
    return score


PASSING = frozenset({408, 425, 429, 500, 502, 503, 504})
FINAL = {
    401: "The server does not accept the secret (401). Check how it expects you to sign in, or replace the secret.",
    403: "The server does not allow this with the given secret (403).",
    404: "There is nothing at this address (404). Check the path.",
    405: "The server does not support this method at this address (405).",
}


def check_status(reply: Reply, told: str = "") -> None:
    """Raise RemoteError for whatever is no success; `told` is what is known of the reason, already checked."""
    if 200 <= reply.status < 300:
        return
    reason = f", {told}" if told else ""
    if reply.status in PASSING:
        sentence = f"The server answered {reply.status}{reason}."
        raise RemoteError(sentence, is_passing=True, wait=asked_wait(reply.headers))
    if reply.status in FINAL:
        raise RemoteError(f"{FINAL[reply.status]}{f'Its message: {told}.' if told else ''}", is_final=True)
    raise RemoteError(f"The server refused the request ({reply.status}{reason}).")


def asked_wait(headers: Mapping[str, str]) -> float | None:
    """The seconds a Retry-After header asks for, or None. A date is measured against the answer's own Date, so that
    the clocks need not agree.
    """
    value = headers.get("Retry-After", "").strip()
    if value.isdecimal():
        return float(value[:9])
    try:
        then, now = parsedate_to_datetime(value), parsedate_to_datetime(headers.get("Date", ""))
        return max(0.0, (then - now).total_seconds())
    except (ValueError, TypeError):
        return None


def texts_as_asked(queries: Sequence[str]) -> list[RemoteQuery]:
    """Queries without ids of their own, numbered from 1."""
    return [RemoteQuery(str(number), text) for number, text in enumerate(queries, 1)]
