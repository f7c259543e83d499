"""Choosing the keys of the judging screen."""

from collections.abc import Mapping

from django.db import transaction

from apps.accounts.models import User
from apps.common.errors import Refusal
from apps.judging.core import keymap
from apps.judging.models import KeyMap


class KeysRefused(Refusal):
    """This choice of keys is invalid. `faults` has a sentence for each act."""

    faults: dict[str, str]


@transaction.atomic
def choose_keys(*, person: User, keys: Mapping[str, str], digits_are_free: bool = False) -> dict[str, str]:
    """Store the keys that this person chose for acts of the judging screen, and return the key of every act.

    Other acts keep their key, unless it was given to another one. No event is recorded: keys are personal, and no grade
    depends on them.
    """
    person = User.objects.select_for_update(no_key=True).get(pk=person.pk)
    wanted = {name: keymap.tidy(key) for name, key in keys.items()}
    if faults := keymap.faults(wanted, digits_are_free=digits_are_free):
        refusal = KeysRefused(next(iter(faults.values())), code="keys_not_possible")
        refusal.faults = faults
        raise refusal
    row = KeyMap.objects.filter(person=person).first()
    used = set(wanted.values())
    unchanged = {name: key for name, key in (row.keys if row else {}).items() if name not in wanted and key not in used}
    chosen = unchanged | keymap.changed_keys(wanted)
    KeyMap.objects.update_or_create(person=person, defaults={"keys": chosen})
    return keymap.keys_of(chosen)


@transaction.atomic
def reset_keys(*, person: User) -> None:
    """Give every act its default key again."""
    KeyMap.objects.filter(person=person).delete()
