"""What a browser calls itself, in words that people know."""

import re
from collections.abc import Sequence

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
