"""One change of many queries. Pure: the fields of a query in, those that change out."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

TAGS = "tags"


@dataclass(frozen=True)
class BulkChange:
    """New values by field, and tags to add and to remove. What is not named stays as it is."""

    values: Mapping[str, Any] = field(default_factory=dict)
    add_tags: tuple[str, ...] = ()
    remove_tags: tuple[str, ...] = ()

    @property
    def fields(self) -> list[str]:
        """The fields that can change, in the order in which they are shown."""
        return [*self.values, *([TAGS] if self.add_tags or self.remove_tags else [])]

    def changed(self, before: Mapping[str, Any]) -> dict[str, Any]:
        """The new values of the fields that differ from `before`."""
        after = dict(self.values)
        if TAGS in self.fields:
            kept = [tag for tag in before[TAGS] if tag not in self.remove_tags]
            after[TAGS] = list(dict.fromkeys([*kept, *self.add_tags]))
        return {name: value for name, value in after.items() if value != before[name]}


class Transition(NamedTuple):
    """So many queries have `before` in a field and get `after`."""

    field: str
    before: Any
    after: Any
    number: int


class BulkPreview(NamedTuple):
    """What a change does to so many queries: how many change at all, and each transition, the most frequent first."""

    queries: int
    changing: int
    transitions: list[Transition]


def preview(rows: Iterable[Mapping[str, Any]], change: BulkChange) -> BulkPreview:
    """What the change does to the rows; each has the values of `change.fields`."""
    counts: Counter[tuple[str, Any, Any]] = Counter()
    queries = changing = 0
    for row in rows:
        changes = change.changed(row)
        queries += 1
        changing += bool(changes)
        counts.update((name, _plain(row[name]), _plain(value)) for name, value in changes.items())
    order = {name: place for place, name in enumerate(change.fields)}
    by_use = sorted(counts.items(), key=lambda pair: (order[pair[0][0]], -pair[1], str(pair[0])))
    return BulkPreview(queries, changing, [Transition(*key, number) for key, number in by_use])


def _plain(value: Any) -> Any:
    return ", ".join(value) if isinstance(value, Sequence) and not isinstance(value, str) else value
