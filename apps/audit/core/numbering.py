"""The keys of rows that came from another server: here they have others, and their digests contain those from there.

In each table all keys moved by one distance, which keeps their order. People were matched one by one.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

PEOPLE, PROJECTS = "accounts_user", "accounts_project"
ELSEWHERE = "elsewhere-"
"""Before the key of an object in history that did not come along: here another object may have that key."""


@dataclass(frozen=True)
class Numbering:
    """`distances` is by table what was added to each key; `people` is by the key there the one here, one to one."""

    distances: Mapping[str, int]
    people: Mapping[int, int]

    def here(self, table: str, key: int) -> int:
        """The key that a row from there has here. Raises KeyError for a row that did not come along.

        No row has a key below 1; one in a forged file would lead to a row that was here before.
        """
        if key < 1:
            raise KeyError(key)
        return self.people[key] if table == PEOPLE else key + self.distances[table]

    def there(self, table: str, key: int) -> int:
        """The key that a row from there had there. Raises KeyError for a row that did not come along."""
        return self._people_there[key] if table == PEOPLE else key - self.distances[table]

    def name_here(self, table: str, name: str) -> str:
        """As `here`, of a key in a text, which may also be empty or no number."""
        if not name:
            return name
        try:
            return str(self.here(table, _key(name)))
        except (KeyError, ValueError):
            return f"{ELSEWHERE}{name}"

    def name_there(self, table: str, name: str) -> str:
        """As `there`, of what `name_here` has returned. Raises KeyError and ValueError for another text."""
        if not name or name.startswith(ELSEWHERE):
            return name.removeprefix(ELSEWHERE)
        return str(self.there(table, _key(name)))

    @cached_property
    def _people_there(self) -> dict[int, int]:
        return {here: there for there, here in self.people.items()}

    def stored(self) -> dict[str, Any]:
        """As a value of JSON."""
        return {"distances": dict(self.distances), "people": {str(key): here for key, here in self.people.items()}}


def numbering_of(stored: Mapping[str, Any]) -> Numbering:
    """What `stored` has returned, as a numbering again."""
    return Numbering(stored["distances"], {int(key): here for key, here in stored["people"].items()})


def _key(name: str) -> int:
    key = int(name)
    if str(key) != name:
        raise ValueError(name)
    return key
