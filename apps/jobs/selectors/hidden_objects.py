"""The registry through which apps above hide notifications from a person for some time.

People who review a past triple again, blindly, must not read its earlier verdicts in an old notification.
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
    """The notifications hidden from the person, as a condition to exclude. Those about no triple are never hidden."""
    return hidden_by_id(person, "about")


def hidden_by_id(person: User, column: str) -> Q:
    """The rows whose `column` is an id hidden from the person, as a condition."""
    condition = Q(pk__in=[])
    for select in _hidden:
        condition |= Q(**{f"{column}__in": select(person)})
    return condition
