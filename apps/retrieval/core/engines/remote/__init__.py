"""Engines without an index, which send queries to a remote system; `make_remote` validates and builds one."""

from collections.abc import Callable, Mapping
from typing import Any

from apps.retrieval.core.engines.base import BadParameters
from apps.retrieval.core.engines.remote.base import Auth, RemoteEngine
from apps.retrieval.core.engines.remote.http_json import HttpJson
from apps.retrieval.core.engines.remote.opensearch import OpenSearch
from apps.retrieval.core.engines.remote.servers import LoadedSearch

REMOTE: dict[str, Callable[..., RemoteEngine]] = {
    engine.name: engine for engine in (HttpJson, OpenSearch, LoadedSearch)
}


def make_remote(kind: str, values: Mapping[str, Any]) -> RemoteEngine:
    """Build an engine from plain values, such as its `identity` returns. Raises BadParameters."""
    given = {key: value for key, value in values.items() if key not in {"engine", "revision"}}
    given["auth"] = Auth.of(given.get("auth") or {})
    if "fields" in given:
        given["fields"] = tuple(given["fields"])
    try:
        return REMOTE[kind](**given)
    except TypeError:
        raise BadParameters("A parameter is missing, or unknown for this kind of system.") from None
