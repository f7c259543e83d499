"""What a browser calls itself, in words that people know."""

import re
from collections.abc import Sequence

from apps.common.errors import Refusal

# The one form of an e-mail address, in which it is stored, compared and counted. No Django.
#
# Databases and programs disagree about which letters are the same: PostgreSQL takes ı for I and ſ for S, SQLite does
# not. So an address has ASCII letters only, small ones, and a domain with others stands in it as DNS has it (IDNA).

LONGEST = 254


class NoAddress(Refusal):
    """What is no e-mail address that can be stored, with a sentence that says what to type instead."""


def plain_address(text: str) -> str:
    """The address in its one form. Raises NoAddress for one with other than ASCII letters before the @."""
    mailbox, at, domain = text.strip().rpartition("@")
    if not (mailbox and at and domain):
        raise NoAddress(f"“{text.strip()}” is no e-mail address. Type it like name@example.org.", code="address")
    if not (mailbox.isascii() and mailbox.isprintable()):
        raise NoAddress(
            f"“{text.strip()}” has a letter before the @ that is not one of a to z. Type an address without it.",
            code="address",
        )
    address = f"{mailbox.lower()}@{plain_domain(domain)}"
    if len(address) > LONGEST or " " in address:
        raise NoAddress(f"“{text.strip()}” is no e-mail address. Type it like name@example.org.", code="address")
    return address


def plain_domain(text: str) -> str:
    """A domain as DNS has it. Raises NoAddress for one with a letter that would become another one."""
    domain = "".join(letter.lower() if letter.isascii() or not letter.lower().isascii() else letter for letter in text)
    if domain.isascii():
        return domain
    try:
        written = domain.encode("idna").decode("ascii")
        is_same = written.encode("ascii").decode("idna") == domain
    except UnicodeError:
        is_same = False
    if not is_same:
        raise NoAddress(
            f"The domain “{text}” has a letter that stands for another one. Type the domain as it is registered, such "
            "as example.org or xn--bcher-kva.example.",
            code="address",
        )
    return written


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
