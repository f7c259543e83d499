"""The time of an item: when its question was asked, else when it was added."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple

ASKED_IN = ("asked_at", "recorded_at", "date")
"""The fields of a query's metadata that say when it was asked; the first one that is there counts."""


class ItemTime(NamedTuple):
    """`at` is None where a date is given and cannot be read: `written` is what is given."""

    at: datetime | None
    is_asked: bool = False
    written: str = ""


def time_written(value: object) -> ItemTime:
    """A date or a time of ISO 8601, such as 2026-03-14 or 2026-03-14T09:30:00+01:00; without a zone it is UTC."""
    written = str(value).strip()
    try:
        at = datetime.fromisoformat(written)
        # A zone can lead out of the years that there are.
        return ItemTime((at if at.tzinfo else at.replace(tzinfo=UTC)).astimezone(UTC), is_asked=True)
    except (ValueError, OverflowError):
        return ItemTime(None, written=written)


def query_time(metadata: Mapping[str, Any], added_at: datetime) -> ItemTime:
    """When a query was asked, as its metadata says; without a word about it when it was added to the project."""
    return _first_written([metadata.get(name) for name in ASKED_IN], added_at)


def triple_time(claims: Mapping[str, Any], added_at: datetime) -> ItemTime:
    """When a triple that came from no query was added, as its file says; else when it was started here."""
    return _first_written([claims.get("added_at")], added_at)._replace(is_asked=False)


def _first_written(values: list[object], added_at: datetime) -> ItemTime:
    given = [value for value in values if value not in (None, "")]
    return time_written(given[0]) if given else ItemTime(added_at)
