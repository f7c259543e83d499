"""The rows that acts in a round wait for. What an act decides on is read once it has them, never before.

Who grades or claims holds their own place in the round, so that people never wait for each other. Who closes a round,
or decides on what its people said, holds every place of it and then the round itself, always in this order.
"""

from collections.abc import Iterable

from apps.accounts.models import User
from apps.common.errors import Forbidden
from apps.judging.models import Round, RoundAnnotator


class NotAsked(Forbidden):
    """Somebody who was not asked to grade in this round wants to."""


def locked_place(round_id: int, annotator: User) -> RoundAnnotator:
    """This person's place in the round, locked, with the round as it is now. Raises NotAsked where they have none."""
    place = RoundAnnotator.objects.select_for_update().filter(round=round_id, annotator=annotator).first()
    if place is None:
        raise NotAsked("You are not an annotator in this round.", code="not_in_round")
    # In a statement of its own: a row joined to one that was waited for is the one from before the wait.
    place.round = Round.objects.select_related("project").get(pk=round_id)
    return place


def locked_round(round_id: int) -> Round:
    """The round as it is now; nobody grades, claims, decides or closes in it before the transaction ends."""
    return locked_rounds([round_id])[0]


def locked_rounds(round_ids: Iterable[int]) -> list[Round]:
    """The same for several rounds, by key. For a round without people of its own the round's row is all there is."""
    ids = list(round_ids)
    places = RoundAnnotator.objects.select_for_update().filter(round__in=ids).order_by("pk")
    list(places.values_list("pk", flat=True))
    return list(Round.objects.select_for_update(no_key=True).filter(pk__in=ids).order_by("pk"))
