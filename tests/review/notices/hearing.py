"""Who hears what of an act."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from apps.accounts.models import User
from apps.jobs.models import Notification
from apps.triples.models import Triple
from tests.factories import lead_of
from tests.review.factories import reviewers_of

DAY = timedelta(days=1)


def named(triple: Triple) -> dict[str, User]:
    """The people of a triple by their part."""
    first, second = reviewers_of(triple)
    return {"author": triple.author, "first": first, "second": second, "lead": lead_of(triple.project)}


def told(triple: Triple, act: Callable[[], Any]) -> dict[str, list[str]]:
    """What `act` tells to whom, by part in the triple. T stands for its label, and parts stand for names."""
    people = named(triple)
    last = Notification.objects.order_by("-pk").values_list("pk", flat=True).first() or 0
    act()
    found: dict[str, list[str]] = {}
    for row in Notification.objects.filter(pk__gt=last).order_by("pk").select_related("person"):
        part = next((part for part, person in people.items() if person == row.person), row.person.name)
        sentence = row.sentence.replace(triple.label, "T")
        for name, person in people.items():
            sentence = sentence.replace(person.name, f"[{name}]")
        found.setdefault(part, []).append(sentence)
    return found
