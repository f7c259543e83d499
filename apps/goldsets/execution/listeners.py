"""Listeners that are called when a version is released.

Apps above this one register here, and run in the same transaction, so that this one need not import them.
"""

from datetime import datetime
from typing import Protocol

from apps.accounts.models import User
from apps.goldsets.models import Version


class OnRelease(Protocol):
    def __call__(self, *, version: Version, actor: User, at: datetime) -> object: ...


_listeners: list[OnRelease] = []


def on_release(act: OnRelease) -> OnRelease:
    """Register what happens when a version has been released."""
    if act not in _listeners:
        _listeners.append(act)
    return act


def run_listeners(*, version: Version, actor: User, at: datetime) -> None:
    """Call the listeners in the order of registration."""
    for act in _listeners:
        act(version=version, actor=actor, at=at)
