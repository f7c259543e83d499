"""The rows that actions in a round lock. They read what they decide on after locking, never before.

Grading and claiming lock the person's own place in the round, so that people never wait for each other. Closing a round
and deciding on its pairs lock all its places and then the round itself, always in this order.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from django.db import connection
from django.db.backends.utils import CursorWrapper

from apps.accounts.models import User
from apps.common.database.statements import run
from apps.common.errors import Forbidden
from apps.judging.models import Round, RoundAnnotator

PLACE = """
SELECT p.id FROM judging_roundannotator p
 WHERE p.round_id = %(round)s AND p.annotator_id = %(person)s [FOR UPDATE]
"""


class NotAnnotator(Forbidden):
    """Somebody who is not an annotator of this round tried to grade in it."""

    def __init__(self) -> None:
        super().__init__("You are not an annotator in this round.", code="not_in_round")


def lock_place(cursor: CursorWrapper, facts: Mapping[str, Any]) -> None:
    """Lock the place of `person` in `round`, where rows are locked.

    A statement of its own: a row joined to one that was waited for is as it was before the wait.
    """
    if connection.features.has_select_for_update:
        run(cursor, PLACE, facts)


def locked_place(round_id: int, annotator: User) -> RoundAnnotator:
    """This person's place in the round, locked, with the round as it is now. Raises NotAnnotator for others."""
    places = RoundAnnotator.objects.filter(round=round_id, annotator=annotator)
    list(places.select_for_update().values_list("pk"))
    place = places.select_related("round__project").first()
    if place is None:
        raise NotAnnotator()
    return place


def locked_round(round_id: int) -> Round:
    """Lock the round and all its places until the transaction ends, and return it as it is now."""
    return locked_rounds([round_id])[0]


def locked_rounds(round_ids: Iterable[int]) -> list[Round]:
    """The same for several rounds, by key. For a round without places only its own row is locked."""
    ids = list(round_ids)
    places = RoundAnnotator.objects.select_for_update().filter(round__in=ids).order_by("pk")
    list(places.values_list("pk", flat=True))
    return list(Round.objects.select_for_update(no_key=True).filter(pk__in=ids).order_by("pk"))
