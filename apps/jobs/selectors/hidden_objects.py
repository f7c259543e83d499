"""The door through which apps above say what a person must not be told of for now.

Somebody who reviews a past triple once more, blindly, is not to find in an old notification what was said of it.
"""

from collections.abc import Callable

from django.db.models import Q, QuerySet

from apps.accounts.models import User

Curtain = Callable[[User], QuerySet]
_curtains: list[Curtain] = []


def add_curtain(curtain: Curtain) -> Curtain:
    """`curtain(person)` selects the ids (`Notification.about`) that are hidden from the person right now."""
    if curtain not in _curtains:
        _curtains.append(curtain)
    return curtain


def covered_for(person: User) -> Q:
    """What is hidden, as part of the query that lists the rest. What is about nothing never is."""
    return covered_by_curtains(person, "about")


def covered_by_curtains(person: User, column: str) -> Q:
    """The rows whose `column` holds an id that a curtain covers, as part of a query."""
    covered = Q(pk__in=[])
    for curtain in _curtains:
        covered |= Q(**{f"{column}__in": curtain(person)})
    return covered
