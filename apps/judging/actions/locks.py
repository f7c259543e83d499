"""The rows that actions in a round lock. They read what they decide on after locking, never before.

Grading and claiming lock the person's own place in the round, so that people never wait for each other. Closing a round
and deciding on its pairs lock all its places and then the round itself, always in this order.
"""

from collections.abc import Iterable
from typing import TypeVar

from django.db import connection

from apps.accounts.models import User
from apps.common.database.questions import Question, first_with
from apps.common.errors import Forbidden
from apps.judging.models import Round, RoundAnnotator

T = TypeVar("T")


class NotAnnotator(Forbidden):
    """Somebody who is not an annotator of this round tried to grade in it."""


def locked_place(round_id: int, annotator: User) -> RoundAnnotator:
    """This person's place in the round, locked, with the round as it is now. Raises NotAnnotator for others."""
    return locked_place_with(round_id, annotator, Question({}, lambda _found: None))[0]


def locked_place_with(round_id: int, annotator: User, question: Question[T]) -> tuple[RoundAnnotator, T]:
    """The same, and the answer to a question about what is there once the place is locked."""
    places = RoundAnnotator.objects.filter(round=round_id, annotator=annotator)
    if connection.features.has_select_for_update:
        # A separate statement: a row joined to one that was waited for is as it was before the wait.
        list(places.select_for_update().values_list("pk"))
    found = first_with(places.select_related("round__project"), question)
    if found is None:
        raise NotAnnotator("You are not an annotator in this round.", code="not_in_round")
    return found


def locked_round(round_id: int) -> Round:
    """Lock the round and all its places until the transaction ends, and return it as it is now."""
    return locked_rounds([round_id])[0]


def locked_rounds(round_ids: Iterable[int]) -> list[Round]:
    """The same for several rounds, by key. For a round without places only its own row is locked."""
    ids = list(round_ids)
    places = RoundAnnotator.objects.select_for_update().filter(round__in=ids).order_by("pk")
    list(places.values_list("pk", flat=True))
    return list(Round.objects.select_for_update(no_key=True).filter(pk__in=ids).order_by("pk"))
