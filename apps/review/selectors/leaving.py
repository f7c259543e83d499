"""The reviews that a person was asked for, which others get when they leave."""

from django.db.models import Count, F, QuerySet

from apps.accounts.core.leaving import Holding
from apps.accounts.models import User
from apps.review.models import ReviewSeat
from apps.review.selectors.seats import UNANSWERED
from apps.triples.enums import State


def unanswered_of(user: User) -> QuerySet[ReviewSeat]:
    """The person's seats in open rounds that wait for a verdict, in every project."""
    return _in_open_rounds(user).filter(UNANSWERED)


def _in_open_rounds(user: User) -> QuerySet[ReviewSeat]:
    current = F("revision__triple__current_id")
    seats = ReviewSeat.objects.filter(reviewer=user, released_at=None, revision_id=current)
    return seats.filter(revision__triple__state=State.IN_REVIEW)


def held_reviews(user: User) -> list[Holding]:
    """Answered ones count too, so that nobody learns from the number which were answered."""
    seats = _in_open_rounds(user).order_by("revision__triple__project__name")
    counted = seats.values_list("revision__triple__project__name").annotate(count=Count("pk"))
    becomes = "without a verdict: to another reviewer, or back to the queue"
    return [Holding("review in an open round,reviews in open rounds", count, becomes, name) for name, count in counted]
