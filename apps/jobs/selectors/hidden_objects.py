"""The door through which apps above say what a person must not be told of for now.

Somebody who reviews a past triple once more, blindly, is not to find in an old notification what was said of it.
"""

from collections.abc import Callable

from django.db.models import Q, QuerySet

from apps.accounts.models import User

Hidden = Callable[[User], QuerySet]
_hidden: list[Hidden] = []


def add_hidden(select: Hidden) -> Hidden:
    """`select(person)` selects the ids (`Notification.about`) that are hidden from the person right now."""
    if select not in _hidden:
        _hidden.append(select)
    return select


def hidden_for(person: User) -> Q:
    """What is hidden, as part of the query that lists the rest. What is about nothing never is."""
    return hidden_by_id(person, "about")


def hidden_by_id(person: User, column: str) -> Q:
    """The rows whose `column` holds an id that is hidden from the person, as part of a query."""
    found = Q(pk__in=[])
    for select in _hidden:
        found |= Q(**{f"{column}__in": select(person)})
    return found
