"""What an operator does about mail that did not go out."""

from datetime import datetime

from django.db import transaction
from django.db.models import Q

from apps.accounts.models import User
from apps.audit.actions import record
from apps.common.errors import Forbidden
from apps.jobs.enums import DeliveryKind, DeliveryState
from apps.jobs.models import Outbox
from apps.jobs.selectors.watching import LATELY

MOST_AT_ONCE = 1_000


@transaction.atomic
def send_mail_again(*, actor: User, at: datetime) -> int:
    """Retry at once the mails that failed, those given up of late included; return how many.

    A mail that was given up with a secret link in it is left alone: its text is erased.
    """
    if not actor.is_operator:
        raise Forbidden("Only an operator can do this: mail is that of every project.")
    failing = Q(state=DeliveryState.WAITING) & ~Q(error="")
    given_up = Q(state=DeliveryState.FAILED, created_at__gt=at - LATELY)
    rows = Outbox.objects.select_for_update().filter(failing | given_up, kind=DeliveryKind.MAIL).order_by("pk")
    again = [row for row in rows[:MOST_AT_ONCE] if row.state == DeliveryState.WAITING or not _is_erased(row)]
    for row in again:
        if row.state == DeliveryState.FAILED:
            row.state, row.attempts = DeliveryState.WAITING, 0
        row.next_at = at
    Outbox.objects.bulk_update(again, ["state", "attempts", "next_at"], batch_size=500)
    if again:
        record(project=None, actor=actor, action="mail.sent_again", after={"messages": len(again)}, at=at)
    return len(again)


def _is_erased(row: Outbox) -> bool:
    return bool(row.payload.get("is_secret"))
