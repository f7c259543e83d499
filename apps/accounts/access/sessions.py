"""Sessions in the database with their last use, and temporary ones in the cookie while it cannot be written to.

People who sign in while the database is locked or the disk is full get a lent session: its data, signed, in place of
its key. It lasts a quarter of an hour and is for reading: saving fails anyway. It ends with the password or the account
like any other; only signing out elsewhere does not end it.

People who guess passwords do not lock out a person whose browser is known: its attempts are counted separately. The
cookie contains a random id of the browser and marks of the accounts that signed in there; it is signed, and the marks
are unreadable. It gives no access.
"""

import logging
import re
import secrets
import threading
import zoneinfo
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from django.conf import settings
from django.contrib.auth import login as start_session
from django.contrib.auth.backends import BaseBackend
from django.contrib.sessions.backends import db
from django.contrib.sessions.backends.base import SessionBase, UpdateError
from django.core import signing
from django.db import DatabaseError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.crypto import salted_hmac

from apps.accounts.actions import sign_ins
from apps.accounts.models import User, Visit
from apps.common.database.bulk import write_note
from apps.common.database.statements import prepared_cursor, row_of, rows_of, time_value
from apps.common.web.outages import outage_of
from apps.common.web.requests import client_address


def reader_time_zone(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    def middleware(request: HttpRequest) -> HttpResponse:
        with timezone.override(zone_of(getattr(request.user, "time_zone", ""))):
            return get_response(request)

    return middleware


def zone_of(name: str) -> zoneinfo.ZoneInfo | None:
    """A person's own zone; None (the server's) for strangers and for a zone this machine does not know."""
    try:
        return zoneinfo.ZoneInfo(name) if name else None
    except (zoneinfo.ZoneInfoNotFoundError, ValueError):
        return None


log = logging.getLogger(__name__)

SALT = "karat.lent-session"
LENT_MARK = "~"
LENT_SECONDS = 15 * 60


# Each request reads its session and its person, by statements that the database plans once.
SESSION = "SELECT t.session_data FROM django_session t WHERE t.session_key = %(key)s AND t.expire_date > %(now)s"
PERSON = ("id", "password", "email", "name", "time_zone", "is_active", "is_operator")


class SessionStore(db.SessionStore):
    @property
    def is_lent(self) -> bool:
        return (self.session_key or "").startswith(LENT_MARK)

    def load(self) -> dict[str, Any]:
        if not self.is_lent:
            return self._stored()
        assert self.session_key is not None
        try:
            return signing.loads(self.session_key.removeprefix(LENT_MARK), salt=SALT, max_age=LENT_SECONDS)
        except signing.BadSignature:
            self._session_key = None
            return {}

    def _stored(self) -> dict[str, Any]:
        with prepared_cursor() as cursor:
            found = rows_of(cursor, SESSION, {"key": self.session_key, "now": time_value(timezone.now())})
        if not found:
            self._session_key = None
        return self.decode(found[0][0]) if found else {}

    def save(self, must_create: bool = False) -> None:
        if self.is_lent:
            self._lend(dict(self.items()))
            return
        try:
            super().save(must_create)
        except (DatabaseError, UpdateError) as problem:
            outage = outage_of(problem)
            if outage is None:
                raise
            if not must_create:
                raise _database_error(problem) from problem
            log.warning("%s: a person signed in for reading only.", outage.title)
            self._lend(getattr(self, "_session_cache", {}))

    def delete(self, session_key: str | None = None) -> None:
        if not (session_key or self.session_key or "").startswith(LENT_MARK):
            super().delete(session_key)

    def cycle_key(self) -> None:
        """Give the session a new key. During an outage the old key may remain, since it cannot be deleted."""
        data, old = dict(self.items()), self.session_key
        self.create()
        self._session_cache = data
        if old is None:
            return
        try:
            if not self.is_lent:
                Visit.objects.filter(session=old).update(session=self.session_key)
            self.delete(old)
        except DatabaseError as problem:
            if outage_of(problem) is None or not self.is_lent:
                raise

    def _lend(self, data: dict[str, Any]) -> None:
        self._session_key = LENT_MARK + signing.dumps(data, salt=SALT, compress=True)


def _database_error(problem: BaseException) -> BaseException:
    """The database error behind Django's UpdateError ("the session was deleted"), when it is an outage."""
    return problem if isinstance(problem, DatabaseError) else problem.__context__ or problem


class SessionBackend(BaseBackend):
    """Finds the person of a session. It signs nobody in: Django's own backend checks passwords."""

    def get_user(self, user_id: int) -> User | None:
        """The person, unless they are deactivated; fields that a request rarely needs are read when asked for."""
        with prepared_cursor() as cursor:
            found = rows_of(cursor, f"SELECT {', '.join(PERSON)} FROM accounts_user WHERE id = %(id)s", {"id": user_id})
        if not found:
            return None
        person = dict(zip(PERSON, found[0], strict=True))
        truths = {name: bool(person[name]) for name in ("is_active", "is_operator")}
        return row_of(User, person | truths) if truths["is_active"] else None


BACKEND = f"{__name__}.{SessionBackend.__name__}"
GRAIN = timedelta(minutes=5)
MOST_REMEMBERED = 10_000


def let_in(request: HttpRequest, user: User, where: str) -> HttpResponse:
    """Start a session for somebody whose identity was checked, and redirect to a page of this server."""
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
    note = partial(sign_ins.note_use, session_key=session_key, user_id=user_id, address=address, browser=browser, at=at)
    write_note(note)


def _begin(request: HttpRequest, user: User) -> None:
    key = _stored_key(request.session)
    if key.startswith(LENT_MARK):
        return
    at = timezone.now()
    address, browser = client_address(request), browser_in(request.headers.get("User-Agent", ""))
    write_note(partial(sign_ins.begin_visit, session_key=key, user=user, address=address, browser=browser, at=at))


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


Known = Sequence[tuple[str, str]]
# The first that is found counts: nearly every browser also calls itself by the names that stand later.
_BROWSERS: Known = (
    (r"\bEdg(e|A|iOS)?/", "Edge"),
    (r"\b(OPR|Opera)/", "Opera"),
    (r"\bSamsungBrowser/", "Samsung Internet"),
    (r"\b(Firefox|FxiOS)/", "Firefox"),
    (r"\b(HeadlessChrome|Chrome|CriOS|Chromium)/", "Chrome"),
    (r"\bVersion/.*\bSafari/", "Safari"),
    (r"\bcurl/", "curl"),
    (r"\bpython\b", "Python"),
)
_SYSTEMS: Known = (
    (r"\bAndroid\b", "Android"),
    (r"\biPad\b", "iPad"),
    (r"\biPhone\b", "iPhone"),
    (r"\bWindows\b", "Windows"),
    (r"\bCrOS\b", "ChromeOS"),
    (r"\bMac OS X\b", "macOS"),
    (r"\bLinux\b", "Linux"),
)
LONGEST_READ = 500


def browser_in(agent: str) -> str:
    """Browser and system of a User-Agent header, such as "Firefox on Linux"; "" where neither is known."""
    agent = agent[:LONGEST_READ]
    browser, system = _first(_BROWSERS, agent), _first(_SYSTEMS, agent)
    return f"{browser or 'A browser'} on {system}" if system else browser


def _first(known: Known, agent: str) -> str:
    return next((name for pattern, name in known if re.search(pattern, agent, re.IGNORECASE)), "")


DEVICE_SALT = "karat.device"
KEPT_SECONDS = 180 * 86_400
MOST_ACCOUNTS = 5


def known_device(request: HttpRequest, account: str) -> str:
    """The id of the browser when this account has signed in there before, else ""."""
    cookie = _read(request)
    return cookie["id"] if _mark(account) in cookie["accounts"] else ""


def remember_device(response: HttpResponse, request: HttpRequest, account: str) -> None:
    """Add this account to the browser's cookie, the latest first."""
    cookie, mark = _read(request), _mark(account)
    accounts = [mark, *(other for other in cookie["accounts"] if other != mark)]
    response.set_cookie(
        settings.DEVICE_COOKIE_NAME,
        signing.dumps({"id": cookie["id"], "accounts": accounts[:MOST_ACCOUNTS]}, salt=DEVICE_SALT),
        max_age=KEPT_SECONDS,
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )


def _read(request: HttpRequest) -> dict[str, Any]:
    try:
        return signing.loads(
            request.COOKIES.get(settings.DEVICE_COOKIE_NAME, ""), salt=DEVICE_SALT, max_age=KEPT_SECONDS
        )
    except signing.BadSignature:
        return {"id": secrets.token_hex(16), "accounts": []}


def _mark(account: str) -> str:
    return salted_hmac(DEVICE_SALT, account.strip().lower()).hexdigest()[:24]
