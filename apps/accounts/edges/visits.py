"""Letting a person in: the session in this browser, which is known from then on. And noting when it is used."""

import threading
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial

from django.contrib.auth import login as start_session
from django.contrib.sessions.backends.base import SessionBase
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone

from apps.accounts.actions import visits
from apps.accounts.core.browsers import browser_in
from apps.accounts.edges.known_devices import remember_device
from apps.accounts.edges.sessions import LENT_MARK
from apps.accounts.models import User
from apps.common.database.notes import write_note
from apps.common.web.requests import client_address

BACKEND = "django.contrib.auth.backends.ModelBackend"
GRAIN = timedelta(minutes=5)
MOST_REMEMBERED = 10_000


def let_in(request: HttpRequest, user: User, where: str) -> HttpResponse:
    """Start a session and lead to a page of our own. Whoever lets somebody in has found out who it is."""
    start_session(request, user, backend=BACKEND)
    _begin(request, user)
    response = redirect(where)
    remember_device(response, request, user.email)
    return response


def note_visits(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Middleware that notes the use of sessions of people who are signed in."""

    def middleware(request: HttpRequest) -> HttpResponse:
        if request.session.session_key and request.user.is_authenticated:
            note_visit(request, request.session.session_key, request.user.pk, timezone.now())
        return get_response(request)

    return middleware


def note_visit(request: HttpRequest, session_key: str, user_id: int, at: datetime) -> None:
    """Note that this session is used, if this process has not done so in the last minutes. Skipped in an outage."""
    if session_key.startswith(LENT_MARK) or not uses.are_due(session_key, at):
        return
    address, browser = client_address(request), browser_in(request.headers.get("User-Agent", ""))
    note = partial(visits.note_use, session_key=session_key, user_id=user_id, address=address, browser=browser, at=at)
    write_note(note)


def _begin(request: HttpRequest, user: User) -> None:
    key = _stored_key(request.session)
    if key.startswith(LENT_MARK):
        return
    at = timezone.now()
    address, browser = client_address(request), browser_in(request.headers.get("User-Agent", ""))
    write_note(partial(visits.begin_visit, session_key=key, user=user, address=address, browser=browser, at=at))


def _stored_key(session: SessionBase) -> str:
    session.save()
    assert session.session_key is not None
    return session.session_key


class Uses:
    """Which sessions this process has lately noted the use of."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._noted: dict[str, datetime] = {}

    def are_due(self, session_key: str, at: datetime) -> bool:
        """Whether a use has to be noted; if so, it counts as noted from now on."""
        with self._lock:
            noted = self._noted.get(session_key)
            if noted is not None and noted <= at < noted + GRAIN:
                return False
            if len(self._noted) >= MOST_REMEMBERED:
                self._noted.clear()
            self._noted[session_key] = at
            return True

    def forget(self) -> None:
        with self._lock:
            self._noted.clear()


uses = Uses()
