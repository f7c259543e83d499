"""Engines without an index: they ask somebody else. `make_remote` gives one by kind, with its parameters checked."""

from collections.abc import Callable, Mapping
from typing import Any

from apps.retrieval.core.engines.base import BadParameters
from apps.retrieval.core.engines.remote.base import Auth, RemoteEngine, RemoteError, RemoteQuery, Reply, Request
from apps.retrieval.core.engines.remote.http_json import HttpJson
from apps.retrieval.core.engines.remote.opensearch import OpenSearch
from apps.retrieval.core.engines.remote.pace import Pace
from apps.retrieval.core.engines.remote.report import merged
from apps.retrieval.core.engines.remote.search import Answers, RemoteLine, ask_all

__all__ = [
    "REMOTE",
    "Answers",
    "Auth",
    "HttpJson",
    "OpenSearch",
    "Pace",
    "RemoteEngine",
    "RemoteError",
    "RemoteLine",
    "RemoteQuery",
    "Reply",
    "Request",
    "ask_all",
    "make_remote",
    "merged",
]

REMOTE: dict[str, Callable[..., RemoteEngine]] = {HttpJson.name: HttpJson, OpenSearch.name: OpenSearch}


def make_remote(kind: str, values: Mapping[str, Any]) -> RemoteEngine:
    """An engine from plain values, as its `identity` gives them. Raises BadParameters."""
    given = {key: value for key, value in values.items() if key not in {"engine", "revision"}}
    given["auth"] = Auth.of(given.get("auth") or {})
    if "fields" in given:
        given["fields"] = tuple(given["fields"])
    try:
        return REMOTE[kind](**given)
    except TypeError:
        raise BadParameters("A parameter is missing, or not one that this kind of system has.") from None
