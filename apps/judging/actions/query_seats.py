"""Claiming all pairs of a query at once."""

from datetime import datetime, timedelta

from django.db import transaction

from apps.accounts.models import User
from apps.common.database.questions import CountOf, Question
from apps.judging import rules
from apps.judging.actions import seats
from apps.judging.actions.locks import locked_place_with
from apps.judging.enums import SeatState
from apps.judging.models import Round, Seat
from apps.judging.selectors.reading import with_texts

MOST_OF_QUERY = 50
FEW = 5


def claim_query_seats(*, round_: Round, annotator: User, at: datetime) -> list[Seat]:
    """Lease what `claim_seats` would lease next, and with it all other pairs of the same queries.

    For the view of all pairs of a query together: the person's graded pairs of these queries are included, in their
    place. Up to 50 pairs of a query; a person who still has more than a few pairs leased gets no further query. Same
    order, leases and limits as pair by pair. An empty list: nothing is left for this person.
    """
    reached = seats.lease_seats(round_=round_, annotator=annotator, n=FEW, at=at)
    leases = seats.leases_of(round_, annotator)
    queries = sorted(set(leases.values_list("query_id", flat=True)))
    for query_id in queries:
        _complete(round_, annotator, query_id, at)
    if not queries:
        return []
    every = [*with_texts(leases), *_graded_in(queries, round_, annotator)]
    return seats.in_order(every, round_, annotator.pk, reached)


def _graded_in(queries: list[int], round_: Round, annotator: User) -> list[Seat]:
    """The person's graded pairs of the queries they have leased. `groups` separates a blind duplicate from its twin."""
    done = Seat.objects.filter(round=round_, annotator=annotator, state=SeatState.DONE, pass_number=1)
    return list(with_texts(done.filter(query__in=queries)).order_by("-pk")[:MOST_OF_QUERY])


@transaction.atomic
def _complete(round_: Round, annotator: User, query_id: int, at: datetime) -> None:
    leased = CountOf(seats.leases_of(round_, annotator).filter(query=query_id).values("pk"))
    room = Question({"leased": leased}, lambda found: MOST_OF_QUERY - int(found["leased"]))
    place, n = locked_place_with(round_.pk, annotator, room)
    if reason := rules.grading_refusal(place.round):
        raise seats.SeatsRefused(reason, code="round_not_open")
    if n > 0:
        seats.lease_of_query(place, query_id, n, at + timedelta(minutes=place.round.lease_minutes))
