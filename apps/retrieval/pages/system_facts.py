"""The configuration of a system elsewhere in words, in the order of its form."""

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
    "method": "method",
    "query": "query type",
    "fields": "fields",
    "body": "body",
    "ids": "path to the ids",
    "scores": "path to the scores",
    "strip": "prefix removed from ids",
    "prepend": "prefix added to ids",
    "version": "version",
}


def remote_facts(system: System) -> list[tuple[str, str]]:
    """How a system elsewhere is asked, as (label, words), without what is not set. A secret is named, never shown."""
    values = system.config["engine"]
    facts = [(label, _worded(values[key])) for key, label in LABELS.items() if values.get(key)]
    if "scores" in values and not values["scores"]:
        facts.append(("scores", "none: the n-th result gets 1/n"))
    if values.get("lower_is_better"):
        facts.append(("better is", "a smaller score; it is kept negated"))
    facts += [("header", f"{name}: {value}") for name, value in values.get("headers", {}).items()]
    return [*facts, ("signs in", _auth(values["auth"])), ("limits", _pace(system.config["pace"]))]


def _worded(value: Any) -> str:
    return ", ".join(value) if isinstance(value, list) else str(value)


def _auth(auth: Mapping[str, str]) -> str:
    if not auth["secret"]:
        return "not at all"
    return f"with the secret {auth['secret']}, {AUTHS[auth['kind']]} {auth['user'] or auth['header']}".rstrip()


def _pace(pace: Mapping[str, float]) -> str:
    often = f"at most {pace['per_second']:g} times a second" if pace["per_second"] else "as fast as it answers"
    return f"{pace['at_once']:g} at once, {often}, {pace['tries']:g} tries, {pace['whole']:g} s each"
