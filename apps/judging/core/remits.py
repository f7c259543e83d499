"""Remits: for some properties of a query, the values that a person may judge. No database."""

from collections.abc import Iterable, Mapping

Remit = Mapping[str, list[str]]

PROPERTIES = ("domain", "query_type", "difficulty", "source")


def remit_from(choices: Iterable[str]) -> dict[str, list[str]] | None:
    """Parse "domain:security" and the like; None for no choice, which means every query."""
    remit: dict[str, list[str]] = {}
    for choice in choices:
        name, _, value = choice.partition(":")
        if name not in PROPERTIES or not value:
            raise ValueError(f"{choice!r} is no property of a query with its value")
        remit.setdefault(name, []).append(value)
    return remit or None


def fits(remit: Remit | None, facts: Mapping[str, str]) -> bool:
    """Whether a query with these properties is within a remit: one of the values of each property it names."""
    return all(facts.get(name) in allowed for name, allowed in (remit or {}).items())
