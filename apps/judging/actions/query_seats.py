"""Claiming all pairs of a query at once."""

from datetime import datetime, timedelta

from django.db import transaction

from apps.accounts.models import User
from apps.judging import rules
from apps.judging.actions import seats
from apps.judging.actions.locks import locked_place
from apps.judging.enums import SeatState
from apps.judging.models import Round, RoundAnnotator, Seat

MOST_OF_QUERY = 50
FEW = 5


def claim_query_seats(*, round_: Round, annotator: User, at: datetime) -> list[Seat]:
    """Lease what `claim_seats` would lease next, and with it all other pairs of the same queries.

    For the view of all pairs of a query together: the person's graded pairs of these queries are included, in their
    place. Up to 50 pairs of a query; a person who still has more than a few pairs leased gets no further query. Same
    order, leases and limits as pair by pair. An empty list: nothing is left for this person.
    """
    leased = seats.claim_seats(round_=round_, annotator=annotator, n=FEW, at=at)
    for query_id in dict.fromkeys(seat.query_id for seat in leased):
        leased = _complete(round_, annotator, query_id, at)
    if not leased:
        return []
    place = RoundAnnotator.objects.select_related("round").get(round=round_, annotator=annotator)
    every = [*leased, *_graded_in_same_queries(leased, annotator)]
    return seats.in_order(every, place.round, annotator.pk, place.cursor)


def _graded_in_same_queries(leased: list[Seat], annotator: User) -> list[Seat]:
    """The person's graded pairs of the queries they have leased. `groups` separates a blind duplicate from its twin."""
    done = Seat.objects.filter(round=leased[0].round_id, annotator=annotator, state=SeatState.DONE, pass_number=1)
    done = done.filter(query__in={seat.query_id for seat in leased})
    return list(done.order_by("-pk")[:MOST_OF_QUERY])


@transaction.atomic
def _complete(round_: Round, annotator: User, query_id: int, at: datetime) -> list[Seat]:
    place = locked_place(round_.pk, annotator)
    leased = list(seats.leased_to(place))
    room = MOST_OF_QUERY - sum(seat.query_id == query_id for seat in leased)
    if reason := rules.grading_refusal(place.round):
        raise seats.SeatsRefused(reason, code="round_not_open")
    if room > 0:
        expires = at + timedelta(minutes=place.round.lease_minutes)
        leased += seats.lease_of_query(place, query_id, room, expires)
    return seats.in_order(leased, place.round, annotator.pk, place.cursor)
