"""A person leaves: their roles, sessions, tokens, links and open work end, and what they did stays on record."""

from datetime import datetime

from django.db import transaction
from django.db.models import Q

from apps.accounts import rules
from apps.accounts.actions.identities import _unlink
from apps.accounts.actions.people import _change_roles, _close, _grant
from apps.accounts.actions.sign_ins import end_visits
from apps.accounts.actions.tokens import revoke_tokens
from apps.accounts.enums import Role
from apps.accounts.execution.leaving import give_up_elsewhere, held_by
from apps.accounts.models import Invitation, PasswordReset, Project, User
from apps.accounts.rules import PeopleRefused
from apps.accounts.selectors import Holding, led_alone_by, open_links_of, roles_of
from apps.common.errors import Refusal
from apps.common.hooks import record


@transaction.atomic
def leave(*, user_id: int, actor: User | None, at: datetime, heir: User | None = None) -> list[Holding]:
    """Take all that a person holds and close the account; also of one that is closed. Returns what was taken.

    `heir` leads the projects that nobody else leads, and is needed where there is such a project. `actor` is None for
    the command line. Locks are taken in the order of every other action: the person, rows of other apps, the projects.
    """
    user = User.objects.select_for_update(no_key=True).get(pk=user_id)
    PeopleRefused.raise_for(rules.leaving_refusal(actor, user), code="not_leaving")
    alone = led_alone_by(user)
    Refusal.raise_for(rules.heir_refusal(user, heir, alone), code="heir")
    taken, was_operator = held_by(user, at), user.is_operator
    give_up_elsewhere(user=user, actor=actor, at=at)
    _end_memberships(user, heir, actor, at)
    _revoke_links(user, actor, at)
    revoke_tokens(user=user, actor=actor, at=at)
    end_visits(user=user, actor=actor, at=at)
    _unlink(user, actor, at)
    if user.is_active:
        _close(user, actor, at)
    user.is_operator = False
    user.set_unusable_password()
    user.save(update_fields=["is_operator", "password"])
    after = {"taken": [holding.as_record for holding in taken], "heir": heir.email if heir and alone else None}
    record(
        project=None, actor=actor, action="user.left", obj=user, before={"operator": was_operator}, after=after, at=at
    )
    return taken


def _end_memberships(user: User, heir: User | None, actor: User | None, at: datetime) -> None:
    live = Project.objects.filter(memberships__user=user, memberships__ended_at=None)
    for project in Project.objects.select_for_update(no_key=True).filter(pk__in=live.values("pk")).order_by("pk"):
        alone = led_alone_by(user).filter(pk=project.pk).exists()
        if alone and heir is not None:
            _grant(project=project, user=heir, role=Role.LEAD, granted_by=actor, at=at)
        _change_roles(
            project=project, user=user, before=roles_of(user, project), wanted=frozenset(), actor=actor, at=at
        )


def _revoke_links(user: User, actor: User | None, at: datetime) -> None:
    """End links to the person's address, and links that they made: whoever made one may have kept it."""
    for invitation in open_links_of(user).select_for_update(of=("self",)).select_related("project"):
        Invitation.objects.filter(pk=invitation.pk).update(revoked_at=at)
        record(project=invitation.project, actor=actor, action="invitation.revoked", obj=invitation, at=at)
    theirs = PasswordReset.objects.filter(Q(user=user) | Q(created_by=user), used_at=None, revoked_at=None)
    theirs.update(revoked_at=at)
