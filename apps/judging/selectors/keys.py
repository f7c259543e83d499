"""The keys of the judging screen for a person."""

from apps.accounts.models import User
from apps.common.database.questions import ListOf, Question
from apps.judging.core import keymap
from apps.judging.models import KeyMap


def own_keys(person: User) -> dict[str, str]:
    """The keys this person chose for the judging screen; empty for the defaults."""
    row = KeyMap.objects.filter(person=person).first()
    return dict(row.keys) if row else {}


def keys_question(person: User) -> Question[dict[str, str]]:
    """Asks for the key of every act of the judging screen for this person."""
    chosen = ListOf(KeyMap.objects.filter(person=person).values_list("keys"), json=["keys"])
    return Question({"keys": chosen}, lambda found: keymap.keys_of(found["keys"][0][0] if found["keys"] else {}))
