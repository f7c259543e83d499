"""Under which keys an object was known when something happened to it: it may have been on another server."""

from collections.abc import Mapping
from typing import Any

from django.db.models import Model

from apps.audit.core.numbering import Numbering, numbering_of
from apps.audit.models import Chain
from apps.audit.selectors.events import events_of
from apps.common.database.questions import ListOf, Question


def numberings_question(action: str, obj: Model) -> Question[list[Numbering]]:
    """From the keys here to those with which the object's event of this action was sealed: one for each move since, the
    last first. None for what happened here."""
    links = {"links__kind": "event", "links__record_id__in": events_of(action, obj).values("pk")}
    chains = Chain.objects.filter(moves__isnull=False, **links).values_list("moves")

    def read(found: Mapping[str, Any]) -> list[Numbering]:
        return [numbering_of(stored) for (moves,) in found["moves"][:1] for stored in moves]

    return Question({"moves": ListOf(chains, json=["moves"])}, read)
