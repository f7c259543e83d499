"""Counts of what was unusual in the answers of a remote system, as plain JSON that adds up over the parts of a run."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

NAMED = 20
SHOWN_OF_ID = 120


@dataclass
class RemoteReport:
    """`unknown` counts returned ids without a block in the snapshot, `repeated` ids that came twice for a query, `cut`
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
