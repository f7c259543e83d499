"""What the metadata of blocks says of them that measures read: date, type, provider and audience.

A project states once which metadata name is which; files bring them under names of their own.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from math import nan
from typing import Any, NamedTuple

from apps.corpus.enums import BlockField

USUAL_NAMES = {
    BlockField.DATE: ("date", "published", "published_at", "issued", "updated", "modified", "created", "timestamp"),
    BlockField.TYPE: ("type", "doc_type", "document_type", "kind", "genre", "category"),
    BlockField.PROVIDER: ("provider", "publisher", "source", "author", "owner", "organisation", "organization"),
    BlockField.AUDIENCE: ("audience", "roles", "access", "visibility", "groups", "allowed_roles"),
}
"""Under which names files bring each field, in any case; the first that a corpus has is proposed."""
EXAMPLES = 3
LONGEST_EXAMPLE = 60
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_DAY_OR_TIME = re.compile(r"\d{4}-\d\d-\d\d(?:[T ].*)?")


def text_of(value: Any) -> str:
    """A value of metadata as text: of a list its plain members; "" for nothing, and for what has parts of its own."""
    if isinstance(value, list | tuple):
        return "; ".join(filter(None, map(text_of, value)))
    if value is None or isinstance(value, dict):
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    return " ".join(str(value).split())


def days_of(value: Any) -> float:
    """A date, or a date with a time, in ISO 8601, in days since 1970, UTC unless it has a zone; NaN for anything else.

    A year or a month alone is no date: nothing says which day is meant.
    """
    text = text_of(value)
    if not _DAY_OR_TIME.fullmatch(text):
        return nan
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        return nan
    return ((time if time.tzinfo else time.replace(tzinfo=UTC)) - EPOCH) / timedelta(days=1)


class FoundField(NamedTuple):
    """A name that metadata has: the share of the blocks that were looked at, some values, and what it may be."""

    name: str
    share: float
    examples: tuple[str, ...]
    proposed_for: BlockField | None = None


def found_fields(metadata: Iterable[Mapping[str, Any]]) -> list[FoundField]:
    """The names in the metadata of some blocks, those of most blocks first, each with what it is proposed for.

    A name is proposed for a date only if most of its values are one.
    """
    counts: Counter[str] = Counter()
    rows = list(metadata)
    dates: Counter[str] = Counter()
    examples: dict[str, dict[str, None]] = {}
    for values in rows:
        for name, value in values.items():
            if text := text_of(value):
                counts[name] += 1
                dates[name] += days_of(value) == days_of(value)
                if len(seen := examples.setdefault(name, {})) < EXAMPLES:
                    seen[text[:LONGEST_EXAMPLE]] = None
    proposed = _proposed(counts, {name for name, count in counts.items() if 2 * dates[name] > count})
    return [
        FoundField(name, count / len(rows), tuple(examples[name]), proposed.get(name))
        for name, count in counts.most_common()
    ]


def _proposed(names: Iterable[str], dates: set[str]) -> dict[str, BlockField]:
    by_small = {name.casefold(): name for name in names}
    found: dict[str, BlockField] = {}
    for field, usual in USUAL_NAMES.items():
        known = (by_small[name] for name in usual if name in by_small)
        if (name := next((one for one in known if field != BlockField.DATE or one in dates), None)) is not None:
            found.setdefault(name, field)
    return found
