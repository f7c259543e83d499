"""How Karat writes numbers, dates and digests. Plain values in, words out."""

import math
import re
from collections.abc import Sequence
from datetime import UTC, date, datetime
from textwrap import shorten

NOT_DEFINED = "not defined"
MINUS = "\N{MINUS SIGN}"
CONTROLS = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Characters that command a terminal, or turn the text after them round; a line break is none."""


def number(value: float | None, places: int = 3) -> str:
    """`-0.31` → "−0.310"; None and NaN are "not defined", never a zero or a dash."""
    if value is None or math.isnan(value):
        return NOT_DEFINED
    text = f"{value:.{places}f}"
    if float(text) == 0:
        text = f"{0:.{places}f}"
    return text.replace("-", MINUS)


def signed(value: float | None, places: int = 3) -> str:
    """A difference: "+0.047", "−0.310", "0.000"."""
    text = number(value, places)
    if value is None or text == NOT_DEFINED or text.startswith(MINUS) or float(text) == 0:
        return text
    return f"+{text}"


def p_value(p: float, places: int = 4) -> str:
    """`0.0132` → "0.0132"; what would round to zero is "below 0.0001", since p is never 0."""
    least = 10.0**-places
    return f"below {least:.{places}f}" if p < least / 2 else number(p, places)


def interval(bounds: Sequence[float | None] | None, places: int = 2, *, differences: bool = False) -> str:
    """`(0.66, 0.76)` → "0.66 to 0.76"; no interval is "no interval"."""
    if not bounds or bounds[0] is None or bounds[1] is None:
        return "no interval"
    write = signed if differences else number
    return f"{write(bounds[0], places)} to {write(bounds[1], places)}"


def percent(share: float | None, places: int = 1) -> str:
    """`0.107` → "10.7 %" with a no-break space."""
    if share is None or math.isnan(share):
        return NOT_DEFINED
    return f"{number(share * 100, places)}\N{NO-BREAK SPACE}%"


def percent_interval(bounds: Sequence[float | None] | None, places: int = 0) -> str:
    """`(0.06, 0.19)` → "6 to 19 %"; no interval is "no interval"."""
    if not bounds or bounds[0] is None or bounds[1] is None:
        return "no interval"
    return f"{number(bounds[0] * 100, places)} to {percent(bounds[1], places)}"


def count(value: int | None) -> str:
    """`12345` → "12,345"; None is "not counted"."""
    return "not counted" if value is None else f"{value:,}".replace("-", MINUS)


def plural(value: int, one: str, many: str = "") -> str:
    """`3, "query", "queries"` → "3 queries"; without a plural, one with an s."""
    return f"{count(value)} {one if value == 1 else many or f'{one}s'}"


def count_up_to(value: int, most: int) -> str:
    """Of what is counted up to `most`: "12", or "1,000 or more"."""
    return f"{most:,} or more" if value >= most else count(value)


def size(octets: int) -> str:
    """`4200000000` → "4.2 GB", `850` → "850 bytes": three digits at most, in powers of ten as disks are sold."""
    amount, unit = float(octets), "bytes"
    for unit in ("bytes", "kB", "MB", "GB", "TB"):
        if amount < 999.5 or unit == "TB":
            break
        amount /= 1000
    places = 0 if unit == "bytes" or amount >= 99.95 else 1
    return f"{amount:,.{places}f}\N{NO-BREAK SPACE}{unit}"


def pages(first: int | None, last: int | None = None) -> str:
    """`31, 32` → "pp. 31–32", `24` → "p. 24", nothing for no page."""
    if first is None:
        return ""
    if last is None or last == first:
        return f"p. {first}"
    return f"pp. {first}–{last}"


_UNITS = ((86_400, "day"), (3_600, "hour"), (60, "minute"))


def age(since: datetime, now: datetime) -> str:
    """The time between two moments in its largest whole unit: "4 days", "1 hour", "less than a minute"."""
    seconds = abs((now - since).total_seconds())
    for size, unit in _UNITS:
        if seconds >= size:
            whole = int(seconds // size)
            return plural(whole, unit)
    return "less than a minute"


def day(when: date, today: date) -> str:
    """ "7 November", with the year when it is not this one."""
    text = f"{when.day} {when:%B}"
    return text if when.year == today.year else f"{text} {when.year}"


def utc_second(when: datetime) -> str:
    """ "2026-11-07T09:30:00Z", the time of a manifest or an export."""
    return f"{when.astimezone(UTC).replace(tzinfo=None).isoformat(timespec='seconds')}Z"


def short_digest(digest: str | None) -> str:
    """ "sha256:9f2c41d0…" → "9f2c 41d0 … 7be8"; enough to compare by eye."""
    bare = (digest or "").rsplit(":", 1)[-1]
    if len(bare) <= 12:
        return bare
    return f"{bare[:4]} {bare[4:8]} … {bare[-4:]}"


def harmless(text: str) -> str:
    """The text as it may be written to a terminal: what others wrote can only be read there."""
    return CONTROLS.sub("\N{REPLACEMENT CHARACTER}", text)


def beginning(text: str, most: int) -> str:
    """The first words of a text that others wrote, `most` letters of them, on one line."""
    return shorten(harmless(" ".join(text.split())), most, placeholder=" …")
