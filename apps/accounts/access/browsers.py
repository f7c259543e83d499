"""The browser of a request: what it is called in words that people know, and who has signed in with it before.

People who guess passwords do not lock out a person whose browser is known: its attempts are counted separately. The
cookie contains a random id of the browser and marks of the accounts that signed in there; it is signed, and the marks
are unreadable. It gives no access.
"""

import re
import secrets
from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.core import signing
from django.http import HttpRequest, HttpResponse
from django.utils.crypto import salted_hmac

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
