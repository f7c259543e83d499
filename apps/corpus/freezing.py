"""The door through which apps above the corpus hear of a new snapshot."""

from collections.abc import Callable
from datetime import datetime

from apps.accounts.models import User
from apps.corpus.models import Snapshot

Listener = Callable[[Snapshot, User, datetime], None]
_listeners: list[Listener] = []


def after_freezing(listener: Listener) -> Listener:
    """Call `listener(snapshot, actor, at)` in the transaction of every freeze. Handed in when Django starts."""
    if listener not in _listeners:
        _listeners.append(listener)
    return listener


def announce(snapshot: Snapshot, actor: User, at: datetime) -> None:
    for listener in _listeners:
        listener(snapshot, actor, at)
