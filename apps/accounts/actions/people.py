"""Actions that create, change, deactivate and reopen people, and give them a new password."""

from collections.abc import Callable
from datetime import datetime, timedelta

from django.db import transaction

from apps.accounts import rules
from apps.accounts.actions.sign_ins import end_visits
from apps.accounts.core.addresses import plain_address
from apps.accounts.enums import Role
from apps.accounts.models import ApiToken, LoginAttempt, Membership, PasswordReset, Project, User
from apps.accounts.rules import PeopleRefused
from apps.accounts.selectors import placeholder_email, placeholder_named, with_address
from apps.common.errors import Refusal
from apps.common.hooks import has_mail_server, post_secret_mail, record
from apps.common.web.tokens import new_link_token, token_digest


def _grant(*, project: Project, user: User, role: str, granted_by: User | None, at: datetime) -> None:
    _, created = Membership.objects.get_or_create(
        project=project,
        user=user,
        role=role,
        ended_at=None,
        defaults={"granted_by": granted_by, "granted_at": at},
    )
    if created:
        record(project=project, actor=granted_by, action="role.granted", obj=user, after={"role": role}, at=at)


def _change_roles(
    *, project: Project, user: User, before: frozenset[str], wanted: frozenset[str], actor: User | None, at: datetime
) -> None:
    """Make `wanted` the live roles of a person who has those `before`. The project is locked."""
    for role in sorted(wanted - before):
        _grant(project=project, user=user, role=role, granted_by=actor, at=at)
    ended = Membership.objects.live().filter(project=project, user=user, role__in=before - wanted)
    ended.update(ended_at=at, ended_by=actor)
    if before != wanted:
        record(
            project=project,
            actor=actor,
            action="membership.changed",
            obj=user,
            before={"roles": sorted(before)},
            after={"roles": sorted(wanted)},
            at=at,
        )


def _is_last_lead(project: Project, user: User) -> bool:
    return not Membership.objects.live().filter(project=project, role=Role.LEAD).exclude(user=user).exists()


@transaction.atomic
def create_user(*, email: str, name: str, password: str | None, at: datetime, is_operator: bool = False) -> User:
    """Create a person. Without a password nobody can sign in as them until one is set. Raises NoAddress."""
    email = plain_address(email)
    if User.objects.filter(email=email).exists():
        raise Refusal(f"{email} has an account already. Sign in with it.", code="email_taken")
    user = User(email=email, name=name.strip(), is_operator=is_operator, created_at=at)
    user.set_password(password)
    user.save()
    record(project=None, actor=user, action="user.created", obj=user, after={"operator": is_operator}, at=at)
    return user


@transaction.atomic
def create_placeholder(*, project: Project, name: str, actor: User, at: datetime) -> User:
    """The placeholder for a name in an imported file, created once for each name in a project; not an account.

    Nobody can sign in as them, they belong to no project, and no list of people shows them.
    """
    user = placeholder_named(project, name)
    if user is None:
        user = User(
            email=placeholder_email(project, name), name=name[:120], created_at=at, is_active=False, deactivated_at=at
        )
        user.set_unusable_password()
        user.save()
        record(project=project, actor=actor, action="stand_in.named", obj=user, after={"name": user.name}, at=at)
    return user


@transaction.atomic
def deactivate_user(*, user_id: int, actor: User | None, at: datetime) -> User:
    """Close a person's account. Rows and name stay; sign-in and tokens end.

    `actor` is None for the command line.
    """
    if actor is not None and not actor.is_operator:
        raise PeopleRefused("Only an operator can deactivate accounts.")
    user = User.objects.select_for_update().get(pk=user_id)
    Refusal.raise_for(rules.last_operator_refusal(user), code="last_operator")
    _close(user, actor, at)
    ApiToken.objects.filter(user=user, revoked_at=None).update(revoked_at=at)
    end_visits(user=user, actor=actor, at=at)
    return user


@transaction.atomic
def reopen_account(*, user_id: int, actor: User | None, at: datetime) -> User:
    """Open a closed account again, also of somebody who has left. Nothing that ended comes back.

    Roles, tokens, sessions and the password stay gone: the person chooses a password by a new link, or signs in with
    the provider. Roles of somebody who was only deactivated never ended. `actor` is None for the command line.
    """
    if actor is not None and not actor.is_operator:
        raise PeopleRefused("Only an operator can reopen accounts.")
    user = User.objects.select_for_update().get(pk=user_id)
    Refusal.raise_for(rules.reopening_refusal(user), code="not_closed")
    before = {"deactivated_at": user.deactivated_at.isoformat() if user.deactivated_at else None}
    PasswordReset.objects.filter(user=user, used_at=None, revoked_at=None).update(revoked_at=at)
    user.is_active, user.deactivated_at = True, None
    user.set_unusable_password()
    user.save(update_fields=["is_active", "deactivated_at", "password"])
    after = {"operator": user.is_operator}
    record(project=None, actor=actor, action="user.reopened", obj=user, before=before, after=after, at=at)
    return user


def _close(user: User, actor: User | None, at: datetime) -> None:
    user.is_active, user.deactivated_at = False, at
    user.save(update_fields=["is_active", "deactivated_at"])
    record(project=None, actor=actor, action="user.deactivated", obj=user, at=at)


@transaction.atomic
def change_address(*, user_id: int, email: str, at: datetime) -> User:
    """Give an account another e-mail address, from the command line. Raises Refusal for one that somebody has."""
    user = User.objects.select_for_update().get(pk=user_id)
    if user.is_placeholder:
        raise Refusal(rules.NO_ACCOUNT.format(user=user), code="no_account")
    before, user.email = user.email, plain_address(email)
    if User.objects.filter(email=user.email).exclude(pk=user.pk).exists():
        raise Refusal(f"{user.email} is the address of another account.", code="email_taken")
    user.save(update_fields=["email"])
    PasswordReset.objects.filter(user=user, used_at=None, revoked_at=None).update(revoked_at=at)
    old, new = {"email": before}, {"email": user.email}
    record(project=None, actor=None, action="user.address_changed", obj=user, before=old, after=new, at=at)
    return user


@transaction.atomic
def change_profile(*, user: User, name: str, time_zone: str, at: datetime) -> User:
    before = {"name": user.name, "time_zone": user.time_zone}
    user.name, user.time_zone = name.strip(), time_zone
    user.save(update_fields=["name", "time_zone"])
    after = {"name": user.name, "time_zone": user.time_zone}
    record(project=None, actor=user, action="user.profile_changed", obj=user, before=before, after=after, at=at)
    return user


@transaction.atomic
def change_password(*, user: User, password: str, at: datetime, session_key: str | None = None) -> User:
    """Set a new password. Sessions of the person but `session_key` end with the old one; so do links to choose one."""
    user.set_password(password)
    user.save(update_fields=["password"])  # first, since it waits for a link that is being made
    PasswordReset.objects.filter(user=user, used_at=None, revoked_at=None).update(revoked_at=at)
    end_visits(user=user, actor=user, keep=session_key, at=at)
    record(project=None, actor=user, action="user.password_changed", obj=user, at=at)
    return user


RESET_LASTS = timedelta(hours=24)
MAILED_LASTS = timedelta(hours=2)
MOST_MAILS = 3
"""How many links a person is mailed within `MAILED_LASTS`."""

NOBODY = 0
"""The key of no account. Rows that name it are rolled back before the database checks the reference."""


class ResetRefused(Refusal):
    """The link cannot be used, or none can be made."""


@transaction.atomic
def create_reset_link(*, user_id: int, actor: User, at: datetime) -> str:
    """Create a link with which this person chooses a new password, and revoke earlier ones. Returns its token."""
    if not actor.is_operator:
        raise PeopleRefused("Only an operator can create a link for a new password.")
    user = User.objects.select_for_update().get(pk=user_id)
    ResetRefused.raise_for(rules.reset_refusal(user), code="no_account")
    return _create_link(user, actor, at, RESET_LASTS)


@transaction.atomic
def request_reset(*, email: str, link_of: Callable[[str], str], at: datetime) -> None:
    """Mail a link to the person with this address; not to unknown and closed accounts, and not after too many requests.

    The caller answers the same in every case, so that nobody learns who has an account. The work is the same too, and
    is rolled back where no mail is sent, so that the time it takes says nothing either.
    """
    if not has_mail_server():
        raise ResetRefused("This server sends no mail. An operator can create a link for you.", code="no_mail_server")
    user = with_address(User.objects.select_for_update(), email).first()
    person = user or User(pk=NOBODY, email=email.strip())
    with transaction.atomic():
        recent = PasswordReset.objects.filter(user=person, created_by=None, created_at__gt=at - MAILED_LASTS)
        is_too_often = recent.count() >= MOST_MAILS
        _mail_link(person, link_of, at)
        if user is None or rules.reset_refusal(user) or is_too_often:
            transaction.set_rollback(True)


def _mail_link(user: User, link_of: Callable[[str], str], at: datetime) -> None:
    link = link_of(_create_link(user, None, at, MAILED_LASTS))
    body = (
        "Somebody, probably you, requested a new password for Karat. Open this link to choose one. It works once,"
        f" within {MAILED_LASTS // timedelta(hours=1)} hours:\n\n{link}\n\n"
        "If it was not you, ignore this mail: your password stays as it is.\n"
    )
    post_secret_mail(to=[user.email], subject="Karat: a new password", body=body, at=at)


def _create_link(user: User, actor: User | None, at: datetime, lasts: timedelta) -> str:
    PasswordReset.objects.filter(user=user, used_at=None, revoked_at=None).update(revoked_at=at)
    token = new_link_token()
    PasswordReset.objects.create(
        user=user, token_digest=token_digest(token), created_by=actor, created_at=at, expires_at=at + lasts
    )
    record(project=None, actor=actor or user, action="password_reset.created", obj=user, at=at)
    return token


@transaction.atomic
def use_reset(*, token: str, password: str, at: datetime) -> User:
    """Set a new password by link, once. All sessions of the person end, and failed sign-ins are forgotten."""
    found = PasswordReset.objects.filter(token_digest=token_digest(token)).first()
    if found is None:
        raise ResetRefused("This link is unknown. Request a new one.", code="unknown_link")
    user = User.objects.select_for_update().get(pk=found.user_id)  # first, as where a newer link is made
    reset = PasswordReset.objects.select_for_update().get(pk=found.pk)
    ResetRefused.raise_for(rules.reset_link_refusal(reset, at) or rules.reset_refusal(user), code="dead_link")
    reset.used_at = at
    reset.save(update_fields=["used_at"])
    LoginAttempt.objects.filter(account=user.email).delete()
    record(project=None, actor=user, action="password_reset.used", obj=user, at=at)
    return change_password(user=user, password=password, at=at)
