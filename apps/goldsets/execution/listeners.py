"""What else happens when a version is released.

Rooms above this one register here what they do then, in the same transaction, so that this one need not know them.
"""

from datetime import datetime
from typing import Protocol

from apps.accounts.models import User
from apps.goldsets.models import Version


class OnRelease(Protocol):
    def __call__(self, *, version: Version, actor: User, at: datetime) -> object: ...


_wanted: list[OnRelease] = []


def on_release(act: OnRelease) -> OnRelease:
    """Register what is done with a version that was just released."""
    if act not in _wanted:
        _wanted.append(act)
    return act


def tell(*, version: Version, actor: User, at: datetime) -> None:
    """Do all that was registered, in the order it was."""
    for act in _wanted:
        act(version=version, actor=actor, at=at)
