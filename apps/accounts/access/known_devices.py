"""Browsers from which a person has signed in before, so that people who guess passwords do not lock that person out.

The cookie contains a random id of the browser and marks of the accounts that signed in there; it is signed, and the
marks are unreadable. It gives no access: attempts to sign in are only counted separately from those of strangers.
"""

import secrets
from typing import Any

from django.conf import settings
from django.core import signing
from django.http import HttpRequest, HttpResponse
from django.utils.crypto import salted_hmac

SALT = "karat.device"
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
        signing.dumps({"id": cookie["id"], "accounts": accounts[:MOST_ACCOUNTS]}, salt=SALT),
        max_age=KEPT_SECONDS,
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )


def _read(request: HttpRequest) -> dict[str, Any]:
    try:
        return signing.loads(request.COOKIES.get(settings.DEVICE_COOKIE_NAME, ""), salt=SALT, max_age=KEPT_SECONDS)
    except signing.BadSignature:
        return {"id": secrets.token_hex(16), "accounts": []}


def _mark(account: str) -> str:
    return salted_hmac(SALT, account.strip().lower()).hexdigest()[:24]
