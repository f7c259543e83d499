"""Rules about people, roles, invitations and secrets. Each returns the reason against it, or None."""

from collections.abc import Iterable
from datetime import datetime

from django.conf import settings
from django.db import connection

from apps.accounts.core.oidc.configuration import SingleSignOn
from apps.accounts.enums import Role
from apps.accounts.models import Invitation, Membership, PasswordReset, Project, User
from apps.accounts.selectors import roles_of
from apps.common.errors import Forbidden, Refusal

NO_ACCOUNT = "{user} is a name in an imported file and has no account."


def people_refusal(actor: User, project: Project) -> str | None:
    """May `actor` invite people to the project and change their roles?"""
    if actor.is_operator or Role.LEAD in roles_of(actor, project):
        return None
    return "Only a lead of this project or an operator can change who belongs to it."


def archive_refusal(project: Project) -> str | None:
    """Why nothing in this project may be changed, or None."""
    if project.archived_at is None:
        return None
    return f"{project} is archived: it can be read, and nothing in it changes. A lead brings it back in its settings."


def deletion_refusal(project: Project, typed: str) -> str | None:
    """Why the project is not deleted by somebody who typed this as its name, or None."""
    if typed.strip() == project.name.strip():
        return None
    return f"Nothing was deleted: to delete {project}, type its name, {project.name}."


def secrets_refusal(actor: User, project: Project) -> str | None:
    """May `actor` write, replace and delete the project's secrets? Nobody may read them."""
    return None if Role.LEAD in roles_of(actor, project) else "Only a lead of this project can manage its secrets."


def invitation_refusal(invitation: Invitation, at: datetime) -> str | None:
    if invitation.used_at is not None:
        return "This invitation has been used. Ask for a new one."
    if invitation.revoked_at is not None:
        return "This invitation was withdrawn. Ask for a new one."
    if invitation.expires_at <= at:
        return "This invitation has expired. Ask for a new one."
    return None


def reset_link_refusal(reset: PasswordReset, at: datetime) -> str | None:
    """Why a link for a new password cannot be used, or None."""
    if reset.used_at is not None:
        return "This link has been used. Request a new one."
    if reset.revoked_at is not None:
        return "This link was replaced by a newer one, or the password has been changed since. Request a new one."
    if reset.expires_at <= at:
        return "This link has expired. Request a new one."
    return None


def reset_refusal(user: User) -> str | None:
    """Why this person cannot get a new password, or None."""
    if user.is_placeholder:
        return NO_ACCOUNT.format(user=user)
    if not user.is_active:
        return f"The account of {user} is deactivated."
    return password_refusal(user.email, is_operator=user.is_operator)


def password_refusal(email: str, *, is_operator: bool) -> str | None:
    """Why this person may not use a password, or None. With single sign-on passwords may be for one operator only."""
    single_sign_on = settings.SINGLE_SIGN_ON
    if single_sign_on is None or not single_sign_on.passwords_only_for:
        return None
    if is_operator and email == single_sign_on.passwords_only_for:
        return None
    return f"Passwords are switched off here. Sign in with {single_sign_on.name}."


def entry_refusal(user: User) -> str | None:
    """Why nobody can be let in as this person, or None."""
    if user.is_active and not user.is_placeholder:
        return None
    return f"The account of {user} is deactivated here. An operator of Karat can say why."


def link_by_email_refusal(user: User, configuration: SingleSignOn, *, has_identity: bool) -> str | None:
    """Why an account is not linked to an identity for its e-mail address alone, or None.

    An operator's never is: whoever controls the addresses at the provider would control Karat.
    """
    name = configuration.name
    if user.is_operator or has_identity or not configuration.links_by_email:
        what = f"An account with your e-mail address exists and is not linked with your identity at {name}."
        if password_refusal(user.email, is_operator=user.is_operator):
            return f"{what} Ask an operator of Karat, since passwords are switched off here."
        return f"{what} Sign in with its password, then press “Link with {name}” on your profile."
    if not configuration.trusts_domain_of(user.email):
        return f"Addresses of this domain are not accepted from {name}. Ask an operator of Karat."
    return entry_refusal(user)


def leaving_refusal(actor: User | None, user: User) -> str | None:
    """Why `actor` (None: the command line) may not have this person leave, or None."""
    if actor is not None and not actor.is_operator:
        return "Only an operator can have somebody leave."
    if actor is not None and actor.pk == user.pk:
        return "You cannot have yourself leave. Ask another operator."
    if user.is_placeholder:
        return NO_ACCOUNT.format(user=user)
    return last_operator_refusal(user)


def reopening_refusal(user: User) -> str | None:
    """Why there is no closed account of this person to reopen, or None."""
    if user.is_placeholder:
        return NO_ACCOUNT.format(user=user)
    return f"The account of {user} is open." if user.is_active else None


def last_operator_refusal(user: User) -> str | None:
    """Why this account may not be closed, or None: somebody has to be operator."""
    others = User.objects.filter(is_operator=True, is_active=True).exclude(pk=user.pk)
    if user.is_operator and not others.exists():
        return "The last operator cannot be deactivated. Make another one first."
    return None


def heir_refusal(user: User, heir: User | None, alone: Iterable[Project]) -> str | None:
    """Why `heir` cannot lead the projects that `user` leads alone, or None."""
    names = ", ".join(project.name for project in alone)
    if names and heir is None:
        return f"Nobody else leads {names}. Choose who does from now on."
    if heir is not None and heir.pk == user.pk:
        return f"{user} leaves. Choose somebody else to lead {names}." if names else None
    return entry_refusal(heir) if heir is not None and names else None


def unlink_refusal(user: User) -> str | None:
    """Why a person may not unlink their own account, or None."""
    if user.has_usable_password() and password_refusal(user.email, is_operator=user.is_operator) is None:
        return None
    return "Without the link you could no longer sign in. Ask an operator for a link to choose a password first."


def roles_refusal(roles: list[str]) -> str | None:
    unknown = sorted(set(roles) - set(Role.values))
    if unknown:
        return f"There is no role called {', '.join(unknown)}. Roles are {', '.join(Role.values)}."
    if not roles:
        return "Choose at least one role."
    return None


def token_roles_refusal(roles: Iterable[str]) -> str | None:
    """Why a token may not give somebody these roles, or None.

    A lead makes tokens with every scope, secrets and webhooks: a token that made one would outlive its own end.
    """
    if Role.LEAD not in roles:
        return None
    return "A token cannot make anybody a lead, who could make further tokens. A lead does it on the page People."


class FormSent(Refusal):
    """A form was sent before, and what it created no longer exists."""

    def __init__(self, what_happened: str) -> None:
        sentence = f"This form was sent already, and its {what_happened}. Load the page again to make another one."
        super().__init__(sentence, code="form_sent")


class ProjectArchived(Refusal):
    """The project is archived, so nothing in it changes."""

    @classmethod
    def unless_open(cls, project: Project) -> None:
        """Raise it for an archived project. Every edge that changes something calls this one."""
        cls.raise_for(archive_refusal(project), code="archived")


class PeopleRefused(Forbidden):
    """Not for this person to decide who belongs."""


def locked_roles(user: User, project: Project) -> frozenset[str]:
    """The roles by which this person works, locked until the transaction ends.

    Raises ProjectArchived when the project is archived by then; archiving locks the same rows.
    """
    live = Membership.objects.live().filter(user=user, project=project)
    if connection.features.has_select_for_update:
        # A separate statement: a project joined to a role that was waited for is as it was before the wait.
        list(live.select_for_update(no_key=True).order_by("pk").values_list("pk"))
    found = list(live.select_related("project"))
    for membership in found:
        ProjectArchived.unless_open(membership.project)
    return frozenset(membership.role for membership in found)
