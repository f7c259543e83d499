"""What a person has in rounds, which others get when they leave."""

from django.db.models import Count, Q

from apps.accounts.core.leaving import Holding
from apps.accounts.models import User
from apps.judging.enums import RoundState, SeatState
from apps.judging.models import Seat


def held_pairs(user: User) -> list[Holding]:
    """Leased pairs, and those that wait in open rounds to be judged by this person only: nobody else can."""
    seats = Seat.objects.order_by("round__project__name").values_list("round__project__name")
    leased = seats.filter(annotator=user, state=SeatState.LEASED).annotate(count=Count("pk"))
    only_theirs = Q(reserved_for=user, state=SeatState.OPEN) & ~Q(round__state=RoundState.CLOSED)
    reserved = seats.filter(only_theirs).annotate(count=Count("pk"))
    left = "stay unjudged; a lead closes the round without them"
    return [
        *(Holding("leased pair", count, "back to the queue", project) for project, count in leased),
        *(Holding("pair that only they can judge,pairs that only they can judge", count, left, project)
          for project, count in reserved),
    ]  # fmt: skip
