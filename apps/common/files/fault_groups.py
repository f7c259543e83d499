"""Mistakes counted by kind: what is one mistake in a person's eyes is one group, in however many lines it is."""

import dataclasses
import re
from collections.abc import Iterator
from typing import Any

from apps.common.errors import InputError

MOST_GROUPS = 100
"""Mistakes of further kinds are not grouped, so that memory stays bounded."""
MOST_LINES = 5
_VARYING = re.compile(r"'[^']*'|“[^”]*”|\d[\d,.]*")


@dataclasses.dataclass
class FaultGroup:
    """Mistakes with the same field and message. Field, message and value are those of the first one."""

    field: str
    message: str
    value: str
    count: int = 0
    lines: list[int] = dataclasses.field(default_factory=list)


class FaultGroups:
    """Groups mistakes as they are added; exact counts, the first lines of each."""

    def __init__(self) -> None:
        self._groups: dict[tuple[str, str], FaultGroup] = {}

    def add(self, error: InputError) -> None:
        key = _shape(error)
        group = self._groups.get(key)
        if group is None:
            if len(self._groups) >= MOST_GROUPS:
                return
            group = self._groups[key] = FaultGroup(error.field, error.message, error.value)
        group.count += 1
        if error.line is not None and len(group.lines) < MOST_LINES:
            group.lines.append(error.line)

    def absorb(self, other: "FaultGroups") -> None:
        """Add the mistakes that another reader of the same file has found."""
        for key, theirs in other._groups.items():
            ours = self._groups.setdefault(key, FaultGroup(theirs.field, theirs.message, theirs.value))
            ours.count += theirs.count
            ours.lines = sorted([*ours.lines, *theirs.lines])[:MOST_LINES]

    def __iter__(self) -> Iterator[FaultGroup]:
        """Largest first; equal ones in the order of reading."""
        return iter(sorted(self._groups.values(), key=lambda group: -group.count))

    def as_json(self) -> list[dict[str, Any]]:
        return [dataclasses.asdict(group) for group in self]


def _shape(error: InputError) -> tuple[str, str]:
    """Field and message without what differs from line to line: the value, quoted words, numbers."""
    message = error.message.replace(error.value, "…") if error.value else error.message
    return _VARYING.sub("…", error.field), _VARYING.sub("…", message)
