"""Limits on guessing passwords: per account and per address, kept in the database so that no cache is needed.

A try counts before the password is looked at, so that many tries at once cannot slip through together. What is
said, and how long it takes, is the same for people who exist and people who do not.
"""

from datetime import datetime, timedelta

from django.contrib.auth import authenticate
from django.db.models import Q
from django.http import HttpRequest

from apps.accounts.models import LoginAttempt, User
from apps.common.errors import Refusal

WINDOW = timedelta(minutes=15)
MOST_PER_ACCOUNT = 8
MOST_PER_ADDRESS = 40
KEPT = timedelta(days=1)


class SignInRefused(Refusal):
    """Wrong words, or too many tries."""

    status = 403


def sign_in(*, request: HttpRequest, email: str, password: str, address: str | None, at: datetime) -> User:
    """The person with this e-mail address and password.

    Raises SignInRefused: with code `too_many` after 8 failures for the account or 40 from the address within
    15 minutes, with code `unknown` when address and password do not belong together or the account is closed.
    """
    account = email.strip().lower()[:254]
    attempt = LoginAttempt.objects.create(account=account, address=address, at=at)
    if _are_too_many(attempt):
        attempt.delete()
        raise SignInRefused("Too many tries. Wait 15 minutes, then sign in again.", code="too_many")
    user = authenticate(request, username=account, password=password)
    if user is None:
        raise SignInRefused("This e-mail address and password do not belong together.", code="unknown")
    LoginAttempt.objects.filter(Q(account=account) | Q(at__lt=at - KEPT)).delete()
    return user


def _are_too_many(attempt: LoginAttempt) -> bool:
    recent = LoginAttempt.objects.filter(at__gt=attempt.at - WINDOW).exclude(pk=attempt.pk)
    if recent.filter(account=attempt.account).count() >= MOST_PER_ACCOUNT:
        return True
    return attempt.address is not None and recent.filter(address=attempt.address).count() >= MOST_PER_ADDRESS
