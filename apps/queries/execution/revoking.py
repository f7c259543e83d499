"""What else rests on a permission than queries: apps above this one register here, and act in the same transaction."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import NamedTuple, Protocol

from apps.accounts.models import User
from apps.queries.models import Source


class Resting(NamedTuple):
    """So many things of a kind, in words such as "12 accepted Q&As", and what happens to them: "are retired"."""

    words: str
    fate: str


class RestsOn(Protocol):
    """Tells what rests on a source, and does what has to be done once the source may not be used any more."""

    def preview(self, source: Source) -> Sequence[Resting]: ...

    def act(self, source: Source, *, actor: User, at: datetime) -> Sequence[Resting]:
        """Returns what it did, to be told beside the queries."""


_resting: list[Callable[[], RestsOn]] = []


def rests_on_permissions(what: Callable[[], RestsOn]) -> None:
    """Register a class of those that tell and act."""
    if what not in _resting:
        _resting.append(what)


def resting_on(source: Source) -> list[Resting]:
    """What rests on the source beside its queries, in the order of registration."""
    return [row for what in _resting for row in what().preview(source)]


def retire_resting(source: Source, *, actor: User, at: datetime) -> list[Resting]:
    """What was done to all that rests on the source, in the order of registration."""
    return [row for what in _resting for row in what().act(source, actor=actor, at=at)]
