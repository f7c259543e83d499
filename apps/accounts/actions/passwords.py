"""A forgotten password: a single-use link, by mail or from an operator, and the new password."""

from collections.abc import Callable
from datetime import datetime, timedelta

from django.db import transaction

from apps.accounts import rules
from apps.accounts.actions.people import change_password
from apps.accounts.models import LoginAttempt, PasswordReset, User
from apps.accounts.rules import PeopleRefused
from apps.accounts.selectors import with_address
from apps.common.errors import Refusal
from apps.common.hooks import has_mail_server, post_secret_mail, record
from apps.common.web.tokens import new_link_token, token_digest

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
    if reason := rules.reset_refusal(user):
        raise ResetRefused(reason, code="no_account")
    return _create(user, actor, at, RESET_LASTS)


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
    link = link_of(_create(user, None, at, MAILED_LASTS))
    body = (
        "Somebody, probably you, requested a new password for Karat. Open this link to choose one. It works once,"
        f" within {MAILED_LASTS // timedelta(hours=1)} hours:\n\n{link}\n\n"
        "If it was not you, ignore this mail: your password stays as it is.\n"
    )
    post_secret_mail(to=[user.email], subject="Karat: a new password", body=body, at=at)


def _create(user: User, actor: User | None, at: datetime, lasts: timedelta) -> str:
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
    if reason := rules.reset_link_refusal(reset, at) or rules.reset_refusal(user):
        raise ResetRefused(reason, code="dead_link")
    reset.used_at = at
    reset.save(update_fields=["used_at"])
    LoginAttempt.objects.filter(account=user.email).delete()
    record(project=None, actor=user, action="password_reset.used", obj=user, at=at)
    return change_password(user=user, password=password, at=at)
