"""Deciding, passage by passage, before an edition is taken."""

from collections.abc import Mapping
from datetime import datetime

from django.db import transaction

from apps.accounts.models import User
from apps.editions.enums import Choice
from apps.editions.models import Decision

BATCH = 1_000


@transaction.atomic
def decide(*, version_id: int, text_digest: str, choice: Choice, actor: User, at: datetime) -> Decision:
    """Keep what happens to the grades of this old text when it becomes the new one. A later decision replaces it."""
    values = {"choice": choice, "decided_by": actor, "decided_at": at}
    return Decision.objects.update_or_create(version_id=version_id, text_digest=text_digest, defaults=values)[0]


@transaction.atomic
def decide_all(*, choices: Mapping[tuple[int, str], Choice], actor: User, at: datetime) -> None:
    """Keep the choices for several changed passages, each by its old block version and the digest of its new text."""
    values = {"decided_by": actor, "decided_at": at}
    Decision.objects.bulk_create(
        [
            Decision(version_id=version, text_digest=digest, choice=choice, **values)
            for (version, digest), choice in choices.items()
        ],
        batch_size=BATCH,
        update_conflicts=True,
        unique_fields=["version", "text_digest"],
        update_fields=["choice", *values],
    )
