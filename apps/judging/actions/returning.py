from datetime import datetime

from django.db import transaction

from apps.accounts.models import User
from apps.audit.actions import record
from apps.judging.actions.locks import locked_place
from apps.judging.actions.seats import leased_to
from apps.judging.enums import SeatState
from apps.judging.models import Round


@transaction.atomic
def return_seats_of(*, round_: Round, holder: User, actor: User, at: datetime) -> int:
    """Return to the queue the leased, ungraded pairs of somebody who is away or has left; return how many.

    A grade they still send for one of them is stored as long as the pair has an empty seat.
    """
    place = locked_place(round_.pk, holder)
    n = leased_to(place).update(state=SeatState.OPEN, annotator=None, lease_expires_at=None)
    if n:
        after = {"round": round_.pk, "seats": n}
        record(project=round_.project, actor=actor, action="seats.returned", obj=holder, after=after, at=at)
    return n
