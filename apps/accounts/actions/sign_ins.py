"""Sign-in with limits on guessing passwords, stored in the database so that no cache is needed; and sessions.

An attempt counts before the password is checked, so that many concurrent attempts do not exceed the limit. The
message and the time it takes are the same for existing and unknown people.

A browser from which the account has signed in before is counted separately (see `known_device`): strangers lock out
neither the person whose password they guess nor the colleagues who share their address.
"""

import logging
import threading
from datetime import datetime, timedelta

from django.contrib.auth import authenticate
from django.contrib.auth.models import update_last_login
from django.contrib.sessions.models import Session
from django.db import DatabaseError, IntegrityError, transaction
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.shortcuts import get_object_or_404

from apps.accounts import rules
from apps.accounts.core.addresses import NoAddress, plain_address
from apps.accounts.models import LoginAttempt, UsedState, User, Visit
from apps.common.errors import Refusal
from apps.common.hooks import record
from apps.common.web.outages import outage_of
from apps.common.web.tokens import token_digest


@transaction.atomic
def begin_visit(*, session_key: str, user: User, address: str | None, browser: str, at: datetime) -> None:
    """Note a session that has just begun, and delete those of the person that have expired."""
    Session.objects.filter(visit__user=user, expire_date__lte=at).delete()
    facts = {"user": user, "began_at": at, "last_used_at": at, "address": address, "browser": browser}
    Visit.objects.update_or_create(session_id=session_key, defaults=facts)


def note_use(*, session_key: str, user_id: int, address: str | None, browser: str, at: datetime) -> None:
    """Note that a session is used now. One that nobody noted, begun under an older version, counts from now on."""
    if Visit.objects.filter(session=session_key).update(last_used_at=at):
        return
    try:
        with transaction.atomic():
            Visit.objects.create(
                session_id=session_key, user_id=user_id, began_at=at, last_used_at=at, address=address, browser=browser
            )
    except IntegrityError:
        return  # noted by another request, or ended by now


@transaction.atomic
def end_visit(*, visit_id: int, user: User, at: datetime) -> Visit:
    """End a session of one's own: its next request is that of a stranger. Raises Http404 for any other."""
    visit = get_object_or_404(Visit, user=user, pk=visit_id)
    Session.objects.filter(pk=visit.session_id).delete()
    record(project=None, actor=user, action="session.ended", obj=user, before={"sessions": 1}, at=at)
    return visit


@transaction.atomic
def end_visits(*, user: User, at: datetime, actor: User | None, keep: str | None = None) -> int:
    """End all sessions of a person, but for the one with the key `keep`. Returns how many had not expired."""
    sessions = Session.objects.filter(visit__user=user).exclude(pk=keep or "")
    live = sessions.filter(expire_date__gt=at).count()
    sessions.delete()
    if live:
        record(project=None, actor=actor, action="session.ended", obj=user, before={"sessions": live}, at=at)
    return live


log = logging.getLogger(__name__)

WINDOW = timedelta(minutes=15)
MOST_PER_ACCOUNT = 8
MOST_PER_ADDRESS = 40
MOST_REMEMBERED = 10_000
KEPT = timedelta(days=1)
NOBODYS = "no address"
"""Stands in for the account of an attempt with what is no address."""
SINGLE_SIGN_ON = "single sign-on"
"""Stands in for the account of an attempt that comes back from the provider, which has not said yet who it is."""


class SignInRefused(Refusal):
    """Wrong e-mail address or password, or too many attempts."""

    status = 403


def sign_in(
    *, request: HttpRequest, email: str, password: str, address: str | None, device: str = "", at: datetime
) -> User:
    """The person with this e-mail address and password. `device` is the id of a known browser, or "".

    Raises SignInRefused: with code `too_many` after 8 failures within 15 minutes for the account or 40 from the
    address, both from unknown browsers, or after 8 from the known device; with code `unknown` when address and password
    do not match or the account is closed.
    """
    account = _counted(email)
    attempt = LoginAttempt(account=account, address=address, device=device, at=at)
    is_written = _write(attempt)
    if _are_too_many(attempt) or not (is_written or memory.has_room(attempt)):
        if is_written:
            attempt.delete()
        raise SignInRefused("Too many attempts. Wait 15 minutes, then sign in again.", code="too_many")
    user = authenticate(request, username=account, password=password)
    if user is None or rules.password_refusal(user.email, is_operator=user.is_operator):
        raise SignInRefused("Wrong e-mail address or password.", code="unknown")
    if is_written:
        LoginAttempt.objects.filter(Q(account=account, device=device) | Q(at__lt=at - KEPT)).delete()
    return user


def _counted(email: str) -> str:
    """What attempts are counted under: the address in its one form, so that no spelling has a limit of its own."""
    try:
        return plain_address(email)
    except NoAddress:
        return NOBODYS


@transaction.atomic
def count_return(*, state: str, address: str | None, at: datetime) -> LoginAttempt:
    """Count a return from the provider as an attempt, and its state as used. Delete the attempt when it succeeds.

    Raises SignInRefused: with code `state_used` when a browser has come back with this state before, with `too_many`
    after 40 attempts from the address within 15 minutes, by password or by single sign-on.
    """
    attempt = LoginAttempt(account=SINGLE_SIGN_ON, address=address, at=at)
    recent = LoginAttempt.objects.filter(at__gt=at - WINDOW, device="", address=address)
    if address is not None and _reaches(recent, MOST_PER_ADDRESS):
        raise SignInRefused("Too many attempts. Wait 15 minutes, then sign in again.", code="too_many")
    _, is_new = UsedState.objects.get_or_create(state_digest=token_digest(state), defaults={"at": at})
    if not is_new:
        raise SignInRefused("This sign-in was used already. Begin again.", code="state_used")
    UsedState.objects.filter(at__lt=at - KEPT).delete()
    attempt.save()
    return attempt


def note_sign_in(sender: type[User], user: User, **kwargs: object) -> None:
    """Store the time of the last sign-in, unless the database cannot be written to."""
    try:
        with transaction.atomic():
            update_last_login(sender, user, **kwargs)
    except DatabaseError as problem:
        if outage_of(problem) is None:
            raise


def _write(attempt: LoginAttempt) -> bool:
    """Store an attempt. False during an outage, in which people may sign in for reading and memory counts attempts."""
    try:
        with transaction.atomic():
            attempt.save()
    except DatabaseError as problem:
        outage = outage_of(problem)
        if outage is None:
            raise
        log.warning("%s: a sign-in attempt is counted in memory only.", outage.title)
        attempt.pk = None
        return False
    return True


def _are_too_many(attempt: LoginAttempt) -> bool:
    recent = LoginAttempt.objects.filter(at__gt=attempt.at - WINDOW, device=attempt.device).exclude(pk=attempt.pk)
    if _reaches(recent.filter(account=attempt.account), MOST_PER_ACCOUNT):
        return True
    if attempt.device or attempt.address is None:
        return False
    return _reaches(recent.filter(address=attempt.address), MOST_PER_ADDRESS)


def _reaches(rows: "QuerySet[LoginAttempt]", most: int) -> bool:
    return rows[:most].count() >= most


class Memory:
    """Attempts that could not be stored, counted in this process: a short-time substitute for the table."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._tries: list[tuple[datetime, str, str | None, str]] = []

    def has_room(self, attempt: LoginAttempt) -> bool:
        """Count the attempt; return whether the limits allow it."""
        one = (attempt.at, attempt.account, attempt.address, attempt.device)
        with self._lock:
            recent = [tried for tried in self._tries if tried[0] > attempt.at - WINDOW]
            self._tries = [*recent[-MOST_REMEMBERED:], one]
        same = [tried for tried in recent if tried[3] == attempt.device]
        if sum(tried[1] == attempt.account for tried in same) >= MOST_PER_ACCOUNT:
            return False
        is_known = bool(attempt.device) or attempt.address is None
        return is_known or sum(tried[2] == attempt.address for tried in same) < MOST_PER_ADDRESS


memory = Memory()
