"""The sources that triples rest on: whether one may still be worked on, and how many there are of each."""

from collections.abc import Mapping
from datetime import datetime

from django.db.models import Count
from django.db.models.functions import Coalesce

from apps.accounts.models import Project
from apps.queries.models import Source
from apps.queries.selectors import is_revoked
from apps.triples.enums import ENDED
from apps.triples.models import Triple

REVOKED = "The permission of its source was revoked, so it cannot go on. Record a new permission under Sources first."


def revoked_refusal(triple: Triple, *, at: datetime) -> str | None:
    """Why nobody may submit or reopen this triple: its own source, or that of its query, may not be used any more."""
    own = (triple.source_id, triple.query.source_id if triple.query else None)
    keys = [key for key in own if key is not None]
    return REVOKED if keys and is_revoked(keys, at=at) else None


def source_of(triple: Triple) -> Source | None:
    """The one source that a triple counts for: its own, else that of the query it was started from."""
    return triple.source or (triple.query.source if triple.query else None)


def counts_by_source(project: Project) -> Mapping[int | None, int]:
    """How many triples count for each source, None for those that have none. Those that have ended are left out."""
    live = Triple.objects.filter(project=project).exclude(state__in=ENDED).order_by()
    return dict(live.values_list(Coalesce("source", "query__source")).annotate(Count("pk")))
