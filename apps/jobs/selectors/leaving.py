"""What a person is told by Karat, which ends when they leave."""

from apps.accounts.core.leaving import Holding
from apps.accounts.models import User
from apps.jobs.models import MailChoice


def held_notifications(user: User) -> list[Holding]:
    """How they want mail. The number of unread notifications is theirs: it tells which reviews they have answered."""
    chosen = MailChoice.objects.filter(person=user).count()
    return [Holding("choice of mail,choices of mail", chosen, "deleted; nothing is mailed any more")]
