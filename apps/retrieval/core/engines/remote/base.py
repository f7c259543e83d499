"""The common parts of engines that query a remote system, and the report of what was unusual in its answers."""

import base64
import json
import math
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from typing import Any, ClassVar, NamedTuple, Protocol

from apps.metrics.expected.rules import Returned
from apps.retrieval.core.engines.base import BadParameters, Parameters

NAMED = 20
SHOWN_OF_ID = 120
AUTHS = ("none", "bearer", "api_key", "basic", "header")
RESERVED_HEADERS = {
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
MOST_VALUES = 1_000_000
"""Of a JSON answer. Empty lists need some thirty times the memory of their text."""
PASSING = frozenset({408, 425, 429, 500, 502, 503, 504})
FINAL = {
    401: "The server does not accept the secret (401). Check how it expects you to sign in, or replace the secret.",
    403: "The server does not allow this with the given secret (403).",
    404: "There is nothing at this address (404). Check the path.",
    405: "The server does not support this method at this address (405).",
}


@dataclass
class RemoteReport:
    """Counts of what was unusual in the answers of a remote system, which add up over the parts of a run.

    `unknown` counts returned ids without a block in the snapshot, `repeated` ids that came twice for a query, `cut`
    results beyond the depth, `incomplete` answers that reported missing results. The first of some are listed.
    """

    unknown: int = 0
    unknown_queries: int = 0
    first_unknown: list[list[str]] = field(default_factory=list)
    repeated: int = 0
    cut: int = 0
    retries: int = 0
    incomplete: int = 0
    first_incomplete: list[list[str]] = field(default_factory=list)
    _last: str = ""

    def add_unknown(self, query_id: str, block_id: str) -> None:
        """Count an unknown id. Calls for one query must follow each other."""
        self.unknown += 1
        if query_id != self._last:
            self.unknown_queries += 1
            self._last = query_id
        if len(self.first_unknown) < NAMED:
            self.first_unknown.append([query_id, block_id[:SHOWN_OF_ID]])

    def add_incomplete(self, query_id: str, why: str) -> None:
        self.incomplete += 1
        if len(self.first_incomplete) < NAMED:
            self.first_incomplete.append([query_id, why])

    def values(self) -> dict[str, Any]:
        """The counts and lists that are not empty."""
        return {key: value for key, value in vars(self).items() if value and not key.startswith("_")}


def merged(one: Mapping[str, Any] | None, other: Mapping[str, Any]) -> dict[str, Any]:
    """Both reports as one: counts add up; of the lists the first 20 items stay."""
    total = dict(one or {})
    for key, value in other.items():
        before = total.get(key)
        if isinstance(value, list):
            total[key] = [*(before or []), *value][:NAMED]
        else:
            total[key] = (before or 0) + value
    return total


_HEADER = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,80}")
_NO_TEXT = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")
_VALUE = re.compile(r"[\x20-\x7e]{0,1000}")


class RemoteQuery(NamedTuple):
    """One query, as it is sent. `vector` is that of the text, for engines that search with one; () when it has none."""

    query_id: str
    text: str
    vector: tuple[float, ...] = ()


class Request(NamedTuple):
    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes | None


class Reply(NamedTuple):
    """An HTTP response; `seconds` is the time from sending the request to the last byte."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    seconds: float


class RemoteHit(NamedTuple):
    """One result: a block by its id, or a passage of the system's `own`.

    `score` is None when the remote system returns only an order.
    """

    id: str
    score: float | None
    own: Returned | None = None


class RemoteAnswer(NamedTuple):
    """The hits of a reply, in the order given; `incomplete` is why some may be missing, "" when none are."""

    hits: list[RemoteHit]
    incomplete: str = ""


class RemoteError(Exception):
    """A query without an answer. The sentence never quotes the text of a reply.

    `is_passing`: a retry may help, after `wait` seconds when the server gave a time. `is_final`: every other query
    would fail the same way. `is_timeout`: no answer came in the time allowed.
    """

    def __init__(
        self,
        sentence: str,
        *,
        is_passing: bool = False,
        is_final: bool = False,
        is_timeout: bool = False,
        wait: float | None = None,
    ) -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.is_passing = is_passing
        self.is_final = is_final
        self.is_timeout = is_timeout
        self.wait = wait


Send = Callable[[Request], Reply]
Locate = Callable[[Collection[str]], Mapping[str, int]]


class RemoteEngine(Protocol):
    """An engine without an index: it builds the request for a query and reads the reply."""

    name: ClassVar[str]

    @property
    def address(self) -> str: ...

    @property
    def auth(self) -> "Auth": ...

    @property
    def returns_passages(self) -> bool:
        """Whether its hits are passages of its own."""
        ...

    def identity(self) -> Parameters: ...

    def request(self, query: RemoteQuery, k: int) -> Request: ...

    def read(self, reply: Reply) -> RemoteAnswer:
        """The hits of the reply. Raises RemoteError for a failure or an unreadable reply."""
        ...


@dataclass(frozen=True)
class Auth:
    """How requests sign in. `secret` is the name of a secret of the project, never its value."""

    kind: str = "none"
    secret: str = ""
    user: str = ""
    header: str = ""

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> "Auth":
        """Raises BadParameters."""
        auth = cls(**{key: str(values[key]).strip() for key in ("kind", "secret", "user", "header") if key in values})
        if auth.kind not in AUTHS:
            raise BadParameters(f"{auth.kind!r} is not a supported way to sign in; choose one of {', '.join(AUTHS)}.")
        if auth.kind == "none":
            return cls()
        if not auth.secret:
            raise BadParameters("Choose the secret to sign in with.")
        if auth.kind == "basic" and (not auth.user or ":" in auth.user or not _VALUE.fullmatch(auth.user)):
            raise BadParameters("Basic authentication needs a user name, without a colon.")
        if auth.kind == "header" and (not _HEADER.fullmatch(auth.header) or _is_reserved(auth.header)):
            raise BadParameters("Name the header that carries the secret, such as X-Api-Key.")
        user = auth.user if auth.kind == "basic" else ""
        return cls(auth.kind, auth.secret, user, auth.header if auth.kind == "header" else "")

    def headers(self, value: str) -> dict[str, str]:
        """The header with the secret's value; empty when the engine does not sign in."""
        if self.kind == "basic":
            pair = base64.b64encode(f"{self.user}:{value}".encode()).decode()
            return {"Authorization": f"Basic {pair}"}
        if self.kind == "header":
            return {self.header: value}
        schemes = {"bearer": "Bearer", "api_key": "ApiKey"}
        return {"Authorization": f"{schemes[self.kind]} {value}"} if self.kind in schemes else {}

    def values(self) -> dict[str, str]:
        return {"kind": self.kind, "secret": self.secret, "user": self.user, "header": self.header}


def _is_reserved(header: str) -> bool:
    return header.lower() in RESERVED_HEADERS


def checked_headers(values: Mapping[str, Any]) -> dict[str, str]:
    """The headers, sorted by name. Raises BadParameters for those that Karat sets itself or that contain secrets."""
    if len(values) > MOST_HEADERS:
        raise BadParameters(f"At most {MOST_HEADERS} headers.")
    for name, value in values.items():
        if not _HEADER.fullmatch(name) or not isinstance(value, str) or not _VALUE.fullmatch(value):
            raise BadParameters(f"The header “{name[:80]}” has a character that is not allowed in a header.")
        if _is_reserved(name):
            raise BadParameters(f"{name} cannot be set here. Use a secret of the project to sign in.")
    return {name: str(values[name]) for name in sorted(values)}


def parsed(reply: Reply) -> Any:
    """The JSON of a reply. Raises RemoteError for anything else, including NaN and infinities."""
    if sum(map(reply.body.count, (b",", b"[", b"{"))) > MOST_VALUES:
        raise RemoteError(f"The answer has more than {MOST_VALUES:,} values.")
    try:
        return json.loads(reply.body, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        raise RemoteError("The answer is not JSON.") from None


def _refuse_constant(name: str) -> float:
    raise ValueError(name)


def checked_id(value: Any, number: int) -> str:
    """An id as text, from a string or an integer; `number` is that of the item, from 1. Raises RemoteError."""
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str) or not 0 < len(value) <= LONGEST_ID:
        raise RemoteError(f"The id of item {number} is neither a text of at most {LONGEST_ID} characters nor a number.")
    if _NO_TEXT.search(value):
        raise RemoteError(f"The id of item {number} has a character that is not allowed in an id.")
    return value


def checked_score(value: Any, number: int) -> float:
    """A finite score; `number` is that of the item, from 1. Raises RemoteError."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise RemoteError(f"The score of item {number} is not a number.")
    try:
        score = float(value)
    except OverflowError:
        score = math.inf
    if not math.isfinite(score):
        raise RemoteError(f"The score of item {number} is not a finite number.")
    return score


def check_status(reply: Reply, detail: str = "") -> None:
    """Raise RemoteError for any status but success; `detail` is a reason that is safe to show, "" for none."""
    if 200 <= reply.status < 300:
        return
    reason = f", {detail}" if detail else ""
    if reply.status in PASSING:
        sentence = f"The server answered {reply.status}{reason}."
        raise RemoteError(sentence, is_passing=True, wait=retry_after(reply.headers))
    if reply.status in FINAL:
        raise RemoteError(f"{FINAL[reply.status]}{f'Its message: {detail}.' if detail else ''}", is_final=True)
    raise RemoteError(f"The server refused the request ({reply.status}{reason}).")


def retry_after(headers: Mapping[str, str]) -> float | None:
    """The seconds of a Retry-After header, or None. A date is compared with the reply's own Date header, because the
    clocks may differ.
    """
    value = headers.get("Retry-After", "").strip()
    if value.isdecimal():
        return float(value[:9])
    try:
        then, now = parsedate_to_datetime(value), parsedate_to_datetime(headers.get("Date", ""))
        return max(0.0, (then - now).total_seconds())
    except (ValueError, TypeError, OverflowError):
        return None
