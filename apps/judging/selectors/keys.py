"""The keys of the judging screen for a person."""

from apps.accounts.models import User
from apps.judging.core import keymap
from apps.judging.models import KeyMap


def own_keys(person: User) -> dict[str, str]:
    """The keys this person chose for the judging screen; empty for the defaults."""
    row = KeyMap.objects.filter(person=person).first()
    return dict(row.keys) if row else {}


def keys_for(person: User) -> dict[str, str]:
    """The key of every act of the judging screen for this person."""
    return keymap.keys_of(own_keys(person))
