"""Ids for queries that come without one, and the words by which two queries are the same."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any, NamedTuple

from apps.common.text.words import plain_words

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


_NUMBERED = re.compile(r"Q([0-9]{1,9})\Z")


def free_ids(label: str) -> Iterator[str]:
    """The outside ids under which the question of a Q&A may be asked, the best one first: T-0001, T-0001-2, …"""
    yield label
    yield from (f"{label}-{number}" for number in count(2))


class QueryNames:
    """Gives a query without an id the id of the query with the same words, else the next number.

    Numbers go on after the highest id of the form Q7 or Q007, with three digits at least. So the same texts in the same
    order get the same ids, and texts that are there already keep theirs. `known` are pairs of id and text.
    """

    def __init__(self, known: Iterable[tuple[str, str]]) -> None:
        self._ids: dict[str, str] = {}
        self._texts: dict[str, str] = {}
        self._last = 0
        for query_id, text in known:
            self.learn(query_id, text)

    def learn(self, query_id: str, text: str) -> None:
        """Take an id that is given. Of several queries with the same words the first counts."""
        self._ids.setdefault(plain_words(text), query_id)
        self._texts.setdefault(query_id, text)
        if numbered := _NUMBERED.match(query_id):
            self._last = max(self._last, int(numbered.group(1)))

    def known_id(self, text: str) -> str | None:
        """The id of the query with these words, if there is one."""
        return self._ids.get(plain_words(text))

    def text_of(self, query_id: str) -> str | None:
        """The text of the query with this id, if there is one."""
        return self._texts.get(query_id)

    def id_for(self, text: str) -> str:
        """The id of the query with these words; a new one is given once."""
        if known := self.known_id(text):
            return known
        query_id = f"Q{self._last + 1:03}"
        self.learn(query_id, text)
        return query_id
