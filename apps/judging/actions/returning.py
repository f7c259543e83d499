from datetime import datetime

from django.db import transaction

from apps.accounts.models import User
from apps.audit.actions import record
from apps.judging.actions.locks import locked_place
from apps.judging.actions.seats import held_by
from apps.judging.enums import SeatState
from apps.judging.models import Round


@transaction.atomic
def return_seats_of(*, round_: Round, holder: User, actor: User, at: datetime) -> int:
    """Give back, for somebody who is away or gone, the pairs they hold and have not graded; return how many.

    A grade they still send for one of them is taken as long as the pair has an empty seat.
    """
    place = locked_place(round_.pk, holder)
    n = held_by(place).update(state=SeatState.OPEN, annotator=None, lease_expires_at=None)
    if n:
        after = {"round": round_.pk, "seats": n}
        record(project=round_.project, actor=actor, action="seats.returned", obj=holder, after=after, at=at)
    return n
