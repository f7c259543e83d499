"""Inviting people by links that work once, and joining by one."""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from django.db import transaction
from django.shortcuts import get_object_or_404

from apps.accounts import rules
from apps.accounts.actions.people import _grant, create_user
from apps.accounts.actions.projects import create_project
from apps.accounts.core.addresses import Guest, plain_address
from apps.accounts.models import Invitation, Project, User
from apps.accounts.rules import FormSent, PeopleRefused
from apps.accounts.selectors import has_operator
from apps.common.errors import Refusal
from apps.common.hooks import has_mail_server, post_secret_mail, record
from apps.common.web.tokens import new_link_token, token_digest

SETUP_LINK_LASTS = timedelta(days=1)


INVITATION_LASTS = timedelta(days=7)


class InvitationRefused(Refusal):
    """The link cannot be used."""


@transaction.atomic
def create_setup_link(*, at: datetime) -> str:
    """Create the one-time set-up link for the first operator, and revoke every earlier one. Returns its token."""
    if has_operator():
        raise Refusal("There is an operator already. Sign in, or ask them for an invitation.", code="set_up")
    Invitation.objects.filter(makes_operator=True, used_at=None, revoked_at=None).update(revoked_at=at)
    token = new_link_token()
    invitation = Invitation.objects.create(
        makes_operator=True, token_digest=token_digest(token), created_at=at, expires_at=at + SETUP_LINK_LASTS
    )
    record(project=None, actor=None, action="setup_link.created", obj=invitation, at=at)
    return token


@transaction.atomic
def invite(
    *,
    project: Project,
    actor: User,
    roles: Sequence[str],
    at: datetime,
    email: str = "",
    key: str = "",
    name: str = "",
    by_token: bool = False,
) -> tuple[Invitation, str]:
    """Create a single-use invitation and return it with its token, which is shown once and stored as a digest.

    `key` is the form's: sent again it creates no second invitation and returns the first one, while that is open.
    `by_token`: the actor acts through an API token, which invites no lead.
    """
    project = Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    PeopleRefused.raise_for(rules.people_refusal(actor, project))
    Refusal.raise_for(rules.roles_refusal(list(roles)), code="roles")
    if by_token and (reason := rules.token_roles_refusal(roles)):
        raise PeopleRefused(reason, code="token_makes_lead")
    email, roles = plain_address(email) if email else "", sorted(set(roles))
    name = name.strip()
    about = [email, roles, name] if name else [email, roles]
    token = new_link_token(key, "invitation", project.pk, actor.pk, *about)
    if sent := Invitation.objects.filter(token_digest=token_digest(token)).first():
        if rules.invitation_refusal(sent, at):
            raise FormSent("invitation was used or has ended")
        return sent, token
    invitation = Invitation.objects.create(
        project=project,
        name=name,
        email=email,
        roles=roles,
        token_digest=token_digest(token),
        created_by=actor,
        created_at=at,
        expires_at=at + INVITATION_LASTS,
    )
    after = {"roles": invitation.roles, "email": invitation.email}
    record(project=project, actor=actor, action="invitation.created", obj=invitation, after=after, at=at)
    return invitation, token


class Invited(NamedTuple):
    """An invitation with its link, which is shown once; `is_mailed` says whether a mail with it is on its way."""

    invitation: Invitation
    link: str
    is_mailed: bool


@transaction.atomic
def invite_several(
    *,
    project: Project,
    actor: User,
    guests: Sequence[Guest],
    link_of: Callable[[str], str],
    by_mail: bool,
    at: datetime,
    key: str = "",
    by_token: bool = False,
) -> list[Invited]:
    """Invite everybody or nobody. `link_of` makes the link of a token; `by_mail` sends it to those with an address.

    The same form sent again creates no second invitation and sends no second mail.
    """
    invited = []
    for number, guest in enumerate(guests):
        of_line = f"{key} {number}" if key and number else key
        before = Invitation.objects.order_by("-pk").values_list("pk", flat=True).first() or 0
        invitation, token = invite(
            project=project,
            actor=actor,
            roles=guest.roles,
            email=guest.email,
            name=guest.name,
            key=of_line,
            by_token=by_token,
            at=at,
        )
        link = link_of(token)
        is_mailed = by_mail and bool(guest.email) and has_mail_server()
        if is_mailed and invitation.pk > before:
            _mail(invitation, link, actor, at)
        invited.append(Invited(invitation, link, is_mailed))
    return invited


def _mail(invitation: Invitation, link: str, actor: User, at: datetime) -> None:
    hello = f"Hello {invitation.name},\n\n" if invitation.name else ""
    body = (
        f"{hello}{actor.name} invites you to {invitation.project} as {', '.join(invitation.roles)}."
        f" Open this link to choose a password. It works once, until {invitation.expires_at:%d %B %Y}:\n\n{link}\n"
    )
    post_secret_mail(to=[invitation.email], subject=f"Karat: {invitation.project}", body=body, at=at)


@transaction.atomic
def revoke_invitation(*, invitation_id: int, project: Project, actor: User, at: datetime) -> Invitation:
    """Withdraw an open invitation: its link no longer works. Raises Http404 for one of another project."""
    invitation = get_object_or_404(Invitation.objects.select_for_update(), pk=invitation_id, project=project)
    PeopleRefused.raise_for(rules.people_refusal(actor, project))
    InvitationRefused.raise_for(rules.invitation_refusal(invitation, at), code="dead_link")
    invitation.revoked_at = at
    invitation.save(update_fields=["revoked_at"])
    record(project=project, actor=actor, action="invitation.revoked", obj=invitation, at=at)
    return invitation


@transaction.atomic
def accept_invitation(
    *, token: str, at: datetime, user: User | None = None, email: str = "", name: str = "", password: str = ""
) -> User:
    """Use an invitation once: join as `user`, or as a new person with this email, name and password.

    Raises InvitationRefused when the link is unknown, used, withdrawn or expired.
    """
    invitation = (
        Invitation.objects.select_for_update(of=("self",))
        .select_related("project")
        .filter(token_digest=token_digest(token))
        .first()
    )
    if invitation is None:
        raise InvitationRefused("This link is unknown. Ask for a new one.", code="unknown_link")
    InvitationRefused.raise_for(rules.invitation_refusal(invitation, at), code="dead_link")
    if user is None:
        email = invitation.email or email
        if reason := rules.password_refusal(email, is_operator=invitation.makes_operator):
            raise InvitationRefused(reason, code="no_passwords")
        user = create_user(
            email=email,
            name=name,
            password=password,
            at=at,
            is_operator=invitation.makes_operator,
        )
    _use(invitation, user, at)
    return user


def _use(invitation: Invitation, user: User, at: datetime) -> None:
    """Mark a locked invitation as used, and give its roles."""
    invitation.used_by, invitation.used_at = user, at
    invitation.save(update_fields=["used_by", "used_at"])
    record(project=invitation.project, actor=user, action="invitation.used", obj=invitation, at=at)
    if invitation.project is not None:
        for role in invitation.roles:
            _grant(project=invitation.project, user=user, role=role, granted_by=invitation.created_by, at=at)


@transaction.atomic
def set_up(*, token: str, email: str, name: str, password: str, project_name: str, at: datetime) -> User:
    """Use the set-up link: create the first operator and, when it is named, their first project."""
    user = accept_invitation(token=token, email=email, name=name, password=password, at=at)
    if project_name.strip():
        create_project(name=project_name, actor=user, at=at)
    return user
