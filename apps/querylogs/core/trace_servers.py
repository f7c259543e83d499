"""Requests to the API of Langfuse and of Phoenix for what they have of a time, page by page, and their answers.

Langfuse from version 4 on has observations with what their traces tell, by a cursor; before it, traces and observations
are two lists with numbered pages. Phoenix has spans by a cursor.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode

from apps.retrieval.core.engines.remote.base import Auth, RemoteError, Reply, Request, parsed

LANGFUSE, PHOENIX = "langfuse", "phoenix"
SERVERS = {LANGFUSE: "Langfuse", PHOENIX: "Phoenix"}
AT_ONCE = 100
"""Records of a page: Langfuse's older lists have no more."""


class Wanted(NamedTuple):
    """What is fetched: from `since` to before `until`, in UTC as ISO 8601; "" is no filter.

    `name` is that of the trace at Langfuse, and of the span at Phoenix, which alone knows `project` and `attribute`.
    """

    since: str
    until: str
    project: str = ""
    name: str = ""
    user: str = ""
    environment: str = ""
    tags: Sequence[str] = ()
    attribute: str = ""

    def as_json(self) -> dict[str, Any]:
        return {**self._asdict(), "tags": list(self.tags)}

    @property
    def chooses_traces(self) -> bool:
        return bool(self.name or self.user or self.environment or self.tags)


class Place(NamedTuple):
    """Where the fetching is: a list of the API, and its page or cursor; "" is its beginning."""

    part: str
    at: str = ""


class Page(NamedTuple):
    """The records of a page, and where it goes on; None at the end."""

    records: Sequence[Mapping[str, Any]]
    following: Place | None


OBSERVATIONS, TRACES, OLD_OBSERVATIONS, SPANS = "v2 observations", "traces", "observations", "spans"


def first_place(server: str) -> Place:
    return Place(OBSERVATIONS if server == LANGFUSE else SPANS)


def auth_of(server: str, *, user: str, secret: str) -> Auth:
    """How the server is asked: Langfuse by its public key and a secret, Phoenix by a key or by none."""
    if not secret:
        return Auth()
    return Auth("basic", secret, user) if server == LANGFUSE else Auth("bearer", secret)


def request_for(path: str, wanted: Wanted, place: Place) -> Request:
    """The request for a page. `path` is what the address of the server has after its host."""
    name, parameters = _LISTS[place.part](wanted)
    if place.at:
        parameters.append(("page" if place.part in {TRACES, OLD_OBSERVATIONS} else "cursor", place.at))
    query = urlencode([("limit", str(AT_ONCE)), *((key, value) for key, value in parameters if value)], quote_via=quote)
    return Request("GET", f"{path.rstrip('/')}{name}?{query}", {"Accept": "application/json"}, None)


def score_request(path: str, score: Mapping[str, Any], *, in_list: bool) -> Request:
    """Sends a score to Langfuse; one with the same id takes its place. The newest servers take it in a list only."""
    return _posted(f"{path.rstrip('/')}/api/public/scores", [score] if in_list else score)


def check_accepted(reply: Reply) -> None:
    """Raises RemoteError where a list of scores was answered, but the score not taken."""
    answer = parsed(reply)
    if isinstance(answer, dict) and answer.get("rejected"):
        raise RemoteError("The server rejected a score.")


def annotations_request(path: str, annotations: Sequence[Mapping[str, Any]]) -> Request:
    """Sends annotations of the documents of a span to Phoenix; those of the same name take their place."""
    return _posted(f"{path.rstrip('/')}/v1/document_annotations?sync=true", {"data": annotations})


def _posted(path: str, value: Any) -> Request:
    headers = {"Accept": "application/json", "Content-Type": "application/json"}
    return Request("POST", path, headers, json.dumps(value).encode())


Parameters = list[tuple[str, str]]


def _observations(wanted: Wanted) -> tuple[str, Parameters]:
    chosen: list[dict[str, Any]] = [
        _is("datetime", "startTime", ">=", wanted.since),
        _is("datetime", "startTime", "<", wanted.until),
        _is("string", "traceName", "=", wanted.name),
        _is("string", "userId", "=", wanted.user),
        _is("stringOptions", "environment", "any of", [wanted.environment] if wanted.environment else []),
        _is("arrayOptions", "traceTags", "all of", list(wanted.tags)),
    ]
    return "/api/public/v2/observations", [
        ("fields", "core,basic,io,metadata"),
        ("expandMetadata", "attributes"),
        ("fromStartTime", wanted.since),
        ("toStartTime", wanted.until),
        ("filter", json.dumps([one for one in chosen if one["value"]])),
    ]


def _is(kind: str, column: str, operator: str, value: str | list[str]) -> dict[str, Any]:
    return {"type": kind, "column": column, "operator": operator, "value": value}


def _traces(wanted: Wanted) -> tuple[str, Parameters]:
    return "/api/public/traces", [
        ("fields", "core"),
        ("orderBy", "timestamp.asc"),
        ("fromTimestamp", wanted.since),
        ("toTimestamp", wanted.until),
        ("name", wanted.name),
        ("userId", wanted.user),
        ("environment", wanted.environment),
        *(("tags", tag) for tag in wanted.tags),
    ]


def _old_observations(wanted: Wanted) -> tuple[str, Parameters]:
    return "/api/public/observations", [("fromStartTime", wanted.since), ("toStartTime", wanted.until)]


def _spans(wanted: Wanted) -> tuple[str, Parameters]:
    return f"/v1/projects/{quote(wanted.project, safe='')}/spans", [
        ("start_time", wanted.since),
        ("end_time", wanted.until),
        ("name", wanted.name),
        ("attribute", wanted.attribute),
    ]


_LISTS: Mapping[str, Callable[[Wanted], tuple[str, Parameters]]] = {
    OBSERVATIONS: _observations,
    TRACES: _traces,
    OLD_OBSERVATIONS: _old_observations,
    SPANS: _spans,
}


def allowed_at(place: Place) -> frozenset[int]:
    """The statuses that are no failure there: an older Langfuse does not know the newer list."""
    return frozenset({404}) if place == Place(OBSERVATIONS) else frozenset()


def page_of(wanted: Wanted, place: Place, reply: Reply) -> Page:
    """What an answer has. Raises RemoteError for one that is no page, or has what was not asked for."""
    if reply.status == 404:
        return Page([], Place(TRACES))
    answer = parsed(reply)
    records = answer.get("data") if isinstance(answer, dict) else None
    if not isinstance(records, list) or not all(isinstance(one, dict) for one in records):
        raise RemoteError("The answer is not a page of traces. Check the address, and which server it is.")
    if place.part == SPANS:
        _check_filter(wanted, records)
    return Page(records, _following(place, answer, has_records=bool(records)))


def _following(place: Place, answer: Mapping[str, Any], *, has_records: bool) -> Place | None:
    meta = answer.get("meta")
    meta = meta if isinstance(meta, dict) else {}
    if place.part in {OBSERVATIONS, SPANS}:
        cursor = meta.get("cursor") if place.part == OBSERVATIONS else answer.get("next_cursor")
        if cursor is not None and (not isinstance(cursor, str) or cursor == place.at):
            raise RemoteError("The server does not say where its next page begins.")
        return Place(place.part, cursor) if cursor else None
    page, pages = int(place.at or 1), meta.get("totalPages")
    if has_records and isinstance(pages, int) and page < pages:
        return Place(place.part, str(page + 1))
    return Place(OLD_OBSERVATIONS) if place.part == TRACES else None


def _check_filter(wanted: Wanted, records: Sequence[Mapping[str, Any]]) -> None:
    """An older Phoenix takes no notice of a filter that it does not know."""
    key, _, value = wanted.attribute.partition(":")
    for one in records:
        attributes = one.get("attributes")
        told = attributes.get(key) if isinstance(attributes, dict) else None
        if key and str(told).lower() != value.strip('"').lower():
            raise RemoteError("This Phoenix does not filter by attributes. Update it, or fetch without that filter.")
        if wanted.name and one.get("name") != wanted.name:
            raise RemoteError("This Phoenix does not filter by name. Update it, or fetch without that filter.")
