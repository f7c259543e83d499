"""Signing in as whom the provider names, and linking an account with such an identity.

The identity is the provider's issuer and subject. The e-mail address matters once, to find out whether somebody new was
invited or may have an account; whoever has one links it after their password, unless the operator allows more.
"""

import logging
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from datetime import datetime

from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import IntegrityError, transaction

from apps.accounts import rules
from apps.accounts.actions.invitations import _use
from apps.accounts.actions.people import _change_roles, _is_last_lead, create_user
from apps.accounts.actions.sign_ins import SignInRefused
from apps.accounts.core.oidc.configuration import GroupRole, SingleSignOn
from apps.accounts.core.oidc.flow import Claims
from apps.accounts.enums import Role
from apps.accounts.models import Identity, Invitation, Project, User
from apps.accounts.rules import PeopleRefused
from apps.accounts.selectors import roles_of
from apps.common.errors import Refusal
from apps.common.hooks import record
from apps.common.web.tokens import token_digest

log = logging.getLogger(__name__)


class _Twice(SignInRefused):
    """Two first sign-ins of one person at the same time, of which this is the second."""

    def __init__(self) -> None:
        super().__init__("You signed in twice at the same time. Sign in once more.", code="twice")


@contextmanager
def _one_at_a_time() -> Iterator[None]:
    """A transaction that is refused where another one has just linked or created the same."""
    try:
        with transaction.atomic():
            yield
    except IntegrityError:
        raise _Twice from None


@_one_at_a_time()
def sign_in_by_identity(*, claims: Claims, configuration: SingleSignOn, at: datetime, invitation: str = "") -> User:
    """The person with this identity, with the roles of their groups. Somebody new is linked or gets an account.

    `invitation` is the token of a link with which somebody new joins. Where the provider does not say whether it has
    verified the address, that link is enough if it was made for the address.

    Raises SignInRefused, whose sentence says what the person can do.
    """
    _refuse_unknown_groups(claims, configuration)
    identity = (
        Identity.objects.select_for_update(of=("self",))
        .select_related("user")
        .filter(issuer=claims.issuer, subject=claims.subject)
        .first()
    )
    user = identity.user if identity else _first_sign_in(claims, configuration, invitation, at)
    SignInRefused.raise_for(rules.entry_refusal(user), code="closed")
    _apply_groups(user, claims.groups, configuration, at)
    return user


@_one_at_a_time()
def link_identity(*, user: User, claims: Claims, at: datetime) -> Identity:
    """Link an account with an identity, for who has just given its password. Repeating it changes nothing."""
    user = User.objects.select_for_update().get(pk=user.pk)
    SignInRefused.raise_for(rules.entry_refusal(user), code="closed")
    known = Identity.objects.filter(issuer=claims.issuer, subject=claims.subject).first()
    if known is not None and known.user_id == user.pk:
        return known
    if known is not None:
        raise SignInRefused(
            "This identity is linked with another account. Sign out at the provider and choose another one there.",
            code="linked_elsewhere",
        )
    if user.identities.filter(issuer=claims.issuer).exists():
        raise SignInRefused("Your account is linked with another identity. Unlink that first.", code="linked")
    return _link(user, claims, at)


@transaction.atomic
def unlink_identity(*, user_id: int, actor: User | None, at: datetime) -> User:
    """End the links of an account; for the person, an operator, or the command line (`actor` None)."""
    if actor is not None and actor.pk != user_id and not actor.is_operator:
        raise PeopleRefused("Only an operator can unlink the account of somebody else.")
    user = User.objects.select_for_update().get(pk=user_id)
    if actor is not None and actor.pk == user.pk and (reason := rules.unlink_refusal(user)):
        raise Refusal(reason, code="only_way_in")
    _unlink(user, actor, at)
    return user


def _unlink(user: User, actor: User | None, at: datetime) -> None:
    for identity in user.identities.order_by("pk"):
        before = {"issuer": identity.issuer, "subject": identity.subject}
        identity.delete()
        record(project=None, actor=actor, action="identity.unlinked", obj=user, before=before, at=at)


def _first_sign_in(claims: Claims, configuration: SingleSignOn, invitation: str, at: datetime) -> User:
    """The person of an identity that is not linked yet: by its verified e-mail address, or by an invitation."""
    invitations = _open_invitations(claims, invitation, at)
    if Identity.objects.filter(issuer=claims.issuer, subject=claims.subject).exists():
        raise _Twice  # the other sign-in held the invitation, and has used it
    email = claims.address if invitations else _verified_address(claims, configuration)
    user = User.objects.select_for_update().filter(email=email).first()
    if user is not None:
        _refuse_to_link(user, claims, configuration)
        _link(user, claims, at)
        return user
    if not invitations and not _may_have_account(email, configuration):
        raise SignInRefused(
            "Nobody has invited your e-mail address. Ask a lead of the project for an invitation to it.",
            code="not_invited",
        )
    user = create_user(email=email, name=claims.name or email.partition("@")[0], password=None, at=at)
    _link(user, claims, at)
    for each in invitations:
        _use(each, user, at)
    return user


def _refuse_to_link(user: User, claims: Claims, configuration: SingleSignOn) -> None:
    """An invitation to an address makes an account; it never opens one that exists."""
    is_known_by_link_only = not claims.email
    has_identity = user.identities.filter(issuer=claims.issuer).exists()
    if reason := rules.link_by_email_refusal(user, configuration, has_identity=has_identity or is_known_by_link_only):
        raise SignInRefused(reason, code="not_linked")


def _open_invitations(claims: Claims, token: str, at: datetime) -> list[Invitation]:
    """The invitations of projects to the address, locked: all of them when it is verified, else that of the link.

    A set-up link makes an operator and is not among them.
    """
    if not _is_address(claims.address):
        return []
    found = (
        Invitation.objects.select_for_update(of=("self",))
        .select_related("project")
        .filter(email=claims.address, makes_operator=False, used_at=None, revoked_at=None, expires_at__gt=at)
        .order_by("pk")
    )
    return list(found if claims.email else found.filter(token_digest=token_digest(token)))


def _verified_address(claims: Claims, configuration: SingleSignOn) -> str:
    if _is_address(claims.email):
        return claims.email
    raise SignInRefused(
        f"{configuration.name} sent no verified e-mail address, so nobody knows whether you were invited. If you have"
        " an account here, sign in with its password and link it on your profile. If not, open the link of an"
        " invitation to your address, and press the button there.",
        code="unverified",
    )


def _is_address(email: str) -> bool:
    try:
        validate_email(email)
    except ValidationError:
        return False
    return True


def _may_have_account(email: str, configuration: SingleSignOn) -> bool:
    return configuration.creates_accounts and configuration.trusts_domain_of(email)


def _link(user: User, claims: Claims, at: datetime) -> Identity:
    identity = Identity.objects.create(user=user, issuer=claims.issuer, subject=claims.subject, linked_at=at)
    after = {"issuer": claims.issuer, "subject": claims.subject}
    record(project=None, actor=user, action="identity.linked", obj=user, after=after, at=at)
    return identity


def _refuse_unknown_groups(claims: Claims, configuration: SingleSignOn) -> None:
    if configuration.roles and claims.has_too_many_groups:
        raise SignInRefused(
            f"{configuration.name} did not list your groups because there are too many, so your roles are not"
            " known. An operator can limit the groups that it sends to those of this application.",
            code="too_many_groups",
        )


def _apply_groups(user: User, groups: Collection[str], configuration: SingleSignOn, at: datetime) -> None:
    """Give the roles that the table of groups says, and end those that it would give but does not; others stay."""
    for slug, table in configuration.rules_by_project().items():
        project = Project.objects.not_deleted().select_for_update(no_key=True).filter(slug=slug).first()
        if project is None:
            log.warning("KARAT_OIDC_ROLES names the project %s, which is not there.", slug)
        elif project.archived_at is None:
            _apply_table(project, user, table, groups, at)


def _apply_table(
    project: Project, user: User, table: Collection[GroupRole], groups: Collection[str], at: datetime
) -> None:
    before = roles_of(user, project)
    given = {rule.role for rule in table if rule.group in groups}
    wanted = before - {rule.role for rule in table} | given
    if Role.LEAD in before - wanted and _is_last_lead(project, user):
        log.warning("%s stays lead of %s, whose last lead they are.", user.email, project.slug)
        wanted |= {Role.LEAD.value}
    _change_roles(project=project, user=user, before=before, wanted=wanted, actor=None, at=at)
