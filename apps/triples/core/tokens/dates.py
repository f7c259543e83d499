"""Figures of the calendar and the clock."""

import re

from apps.triples.core.tokens.figure import Figure, Found, Kind

_MONTH_NAMES = """
January Jan; February Feb; March Mar; April Apr; May; June Jun; July Jul; August Aug; September Sept Sep; October Oct;
November Nov; December Dec
"""
_MONTHS = {
    name: f"{number:02}" for number, names in enumerate(_MONTH_NAMES.split(";"), start=1) for name in names.split()
}

_MONTH = rf"(?P<month>{'|'.join(_MONTHS)})\b\.?"

_ISO_DATE = re.compile(r"(?<![\w-])\d{4}-\d{2}-\d{2}(?![\w-])")
_DATE = re.compile(rf"(?<![\w.])(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\.? (?:of )?{_MONTH}(?:,? (?P<year>\d{{4}})(?!\d))?")
_MONTH_FIRST = re.compile(
    rf"\b{_MONTH} (?:(?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?![\d:.%]))?"
    r"(?:(?:(?<=\w), ?| )?(?<!\d)(?P<year>\d{4})(?!\d))?"
)
_CLOCK = re.compile(
    r"(?<![\w.:])(?P<hour>\d{1,2})(?::(?P<minute>\d{2}))?(?::(?P<second>\d{2}))? ?(?P<half>[ap])\.?m\b\.?"
    r"|(?<![\w.:])(?P<hour24>\d{1,2}):(?P<minute24>\d{2})(?::(?P<second24>\d{2}))?(?![\w:])",
    re.IGNORECASE,
)


def _iso_date(text: str, match: re.Match[str]) -> list[Found]:
    return [(*match.span(), Figure(match.group(), match.group()))]


def _date(text: str, match: re.Match[str]) -> list[Found]:
    day, year = match["day"], match["year"]
    if not day and not year:
        return []
    plain = "-".join(filter(None, [year or "-", _MONTHS[match["month"]], day and day.zfill(2)]))
    return [(*match.span(), Figure(match.group().strip(), plain))]


def _clock(text: str, match: re.Match[str]) -> list[Found]:
    hour = int(match["hour"] or match["hour24"])
    if match["half"]:
        hour = hour % 12 + (12 if match["half"].casefold() == "p" else 0)
    second = match["second"] or match["second24"]
    plain = f"{hour}:{match['minute'] or match['minute24'] or '00'}" + (f":{second}" if second else "")
    return [(*match.span(), Figure(match.group(), plain))]


ISO_DATE = Kind(_ISO_DATE, _iso_date)
DAY_FIRST = Kind(_DATE, _date)
MONTH_FIRST = Kind(_MONTH_FIRST, _date)
CLOCK = Kind(_CLOCK, _clock)
