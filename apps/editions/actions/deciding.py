"""Deciding, passage by passage, before an edition is taken."""

from datetime import datetime

from django.db import transaction

from apps.accounts.models import User
from apps.editions.enums import Choice
from apps.editions.models import Decision


@transaction.atomic
def decide(*, version_id: int, text_digest: str, choice: Choice, actor: User, at: datetime) -> Decision:
    """Keep what happens to the grades of this old text when it becomes the new one. A later decision replaces it."""
    values = {"choice": choice, "decided_by": actor, "decided_at": at}
    return Decision.objects.update_or_create(version_id=version_id, text_digest=text_digest, defaults=values)[0]
