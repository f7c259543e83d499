"""The configuration of a system elsewhere as labels and texts, in the order of its form."""

from collections.abc import Mapping
from typing import Any

from apps.retrieval.models import System

AUTHS = {
    "bearer": "as a Bearer token",
    "api_key": "as an ApiKey",
    "basic": "as the password of",
    "header": "in the header",
}
LABELS = {
    "url": "address",
    "index": "index",
    "search_type": "search",
    "snapshot": "snapshot",
    "server": "server",
    "method": "method",
    "query": "query type",
    "fields": "fields",
    "body": "body",
    "ids": "path to the ids",
    "scores": "path to the scores",
    "documents": "path to the documents",
    "texts": "path to the texts",
    "first_pages": "path to the first pages",
    "last_pages": "path to the last pages",
    "strip": "prefix removed from ids",
    "prepend": "prefix added to ids",
    "version": "version",
}


def remote_facts(system: System) -> list[tuple[str, str]]:
    """The (label, text) pairs of the settings with a value. A secret is shown by name only."""
    values = system.config["engine"]
    facts = [(label, _as_text(values[key])) for key, label in LABELS.items() if values.get(key)]
    if "scores" in values and not values["scores"]:
        facts.append(("scores", "none: the order of the answer counts"))
    if values.get("lower_is_better"):
        facts.append(("better is", "a smaller score; it is stored negated"))
    facts += [("header", f"{name}: {value}") for name, value in values.get("headers", {}).items()]
    return [*facts, ("signs in", _auth(values["auth"])), ("limits", _pace(system.config["pace"]))]


def _as_text(value: Any) -> str:
    return ", ".join(value) if isinstance(value, list) else str(value)


def _auth(auth: Mapping[str, str]) -> str:
    if not auth["secret"]:
        return "not at all"
    return f"with the secret {auth['secret']}, {AUTHS[auth['kind']]} {auth['user'] or auth['header']}".rstrip()


def _pace(pace: Mapping[str, float]) -> str:
    rate = f"at most {pace['per_second']:g} per second" if pace["per_second"] else "no limit per second"
    return f"{pace['at_once']:g} parallel requests, {rate}, {pace['tries']:g} tries, {pace['whole']:g} s each"
