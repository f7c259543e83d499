"""The sources that a triple rests on, and whether it may still be worked on."""

from datetime import datetime

from apps.queries.selectors import is_revoked
from apps.triples.models import Triple

REVOKED = "The permission of its source was revoked, so it cannot go on. Record a new permission under Sources first."


def revoked_refusal(triple: Triple, *, at: datetime) -> str | None:
    """Why nobody may submit or reopen this triple: its own source, or that of its query, may not be used any more."""
    own = (triple.source_id, triple.query.source_id if triple.query else None)
    keys = [key for key in own if key is not None]
    return REVOKED if keys and is_revoked(keys, at=at) else None
