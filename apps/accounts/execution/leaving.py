"""What people hold in apps above this one, and how it is taken from them when they leave.

Those apps register here, so that this one need not import them. `show` reads; `give_up` writes in the transaction in
which the person leaves, before their roles end.
"""

from collections.abc import Callable
from datetime import datetime
from typing import Protocol

from django.db.models import Count

from apps.accounts.models import Membership, User
from apps.accounts.selectors import Holding, open_links_of, own_tokens, visits_of


class GiveUp(Protocol):
    def __call__(self, *, user: User, actor: User | None, at: datetime) -> object: ...


Show = Callable[[User], list[Holding]]
_registered: list[tuple[Show, GiveUp | None]] = []


def on_leaving(show: Show, give_up: GiveUp | None = None) -> None:
    """Register what an app lets people hold. Without `give_up` it is only shown: somebody else has to see to it."""
    if (show, give_up) not in _registered:
        _registered.append((show, give_up))


def held_by(user: User, at: datetime) -> list[Holding]:
    """All that the person holds: first their work in other apps, then their roles and ways to sign in."""
    elsewhere = [holding for show, _ in _registered for holding in show(user)]
    return [holding for holding in [*elsewhere, *_ways_in(user, at)] if holding.number]


def _ways_in(user: User, at: datetime) -> list[Holding]:
    roles = Membership.objects.live().filter(user=user).order_by("project__name").values_list("project__name")
    tokens = own_tokens(user, at).order_by("project__name").values_list("project__name")
    return [
        *(Holding("role", count, "ended", project) for project, count in roles.annotate(count=Count("pk"))),
        *(Holding("API token", count, "revoked", project) for project, count in tokens.annotate(count=Count("pk"))),
        Holding("session", visits_of(user, at).count(), "ended"),
        Holding("link with single sign-on,links with single sign-on", user.identities.count(), "removed"),
        Holding("open invitation by them or to their address,open invitations by them or to their address",
                open_links_of(user).count(), "withdrawn"),
    ]  # fmt: skip


def give_up_elsewhere(*, user: User, actor: User | None, at: datetime) -> None:
    """The app that registered last comes first: it may notify the person, and an app below then deletes that."""
    for _, give_up in reversed(_registered):
        if give_up is not None:
            give_up(user=user, actor=actor, at=at)
