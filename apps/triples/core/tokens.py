"""Figures of wordings. Plain text in, plain values out.

A figure must not change from a block to an answer: a number with its unit, a version, a date, a time of day, a code
such as AES-256-GCM, an acronym. Two figures are the same when `plain` and `unit` are equal. Forms that differ in
writing alone get one plain form (1,000 and 1000, eight hours and 8 h, 1 March 2026 and 2026-03-01); forms that may
differ in meaning never do (1.2 and 1.2.0, 90 days and 3 months, Mb and MB, business days and days).
"""

import re
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import NamedTuple

from apps.common.text.words import SAME_SIGN, singular

_UNIT_FORMS = """
second sec secs s; minute min mins; hour hr hrs h; day; week; month; quarter; year yr yrs; millisecond msec ms;
percent % pct; byte; kilobyte kb; megabyte mb; gigabyte gb; terabyte tb; kibibyte kib; mebibyte mib;
gibibyte gib; tebibyte tib; bit; kilometre kilometer km; metre meter; centimetre centimeter cm; millimetre millimeter
mm; kilogram kg; gram; milligram mg; litre liter; millilitre milliliter ml; hertz hz; kilohertz khz; megahertz mhz;
gigahertz ghz; watt; kilowatt kw; volt; ampere amp; °c celsius; °f fahrenheit; euro eur €; dollar usd $; pound gbp £;
franc chf; people person; time; copy
"""
UNITS = {form: forms.split()[0] for forms in _UNIT_FORMS.split(";") for form in forms.split()}
_BITS = {"Kb": "kilobit", "Mb": "megabit", "Gb": "gigabit", "Tb": "terabit"}
_QUALIFIERS = frozenset(["business", "calendar", "working", "consecutive"])


def unit_of(word: str) -> str:
    """The name of the unit that `word` writes in any form, or "". Mb is not MB: bits are not bytes."""
    if word in _BITS:
        return _BITS[word]
    folded = word.casefold()
    return UNITS.get(folded) or UNITS.get(singular(folded), "")


_FOLLOWER = re.compile(r"[ -]?(?P<unit>%|°[CF]\b|[€$£]|[^\W\d_]+\.?)")


def unit_behind(text: str, at: int) -> tuple[str, int]:
    """The unit right after `at` and its end; a qualifier (business days) belongs to it."""
    match = _FOLLOWER.match(text, at)
    if match is None:
        return "", at
    word = match["unit"].rstrip(".")
    if word.casefold() == "per" and (cent := re.compile(r" cent\b").match(text, match.end())):
        return "percent", cent.end()
    if word.casefold() in _QUALIFIERS:
        unit, end = unit_behind(text, match.end())
        return (f"{word.casefold()} {unit}", end) if unit else ("", at)
    unit = unit_of(word)
    return (unit, match.start("unit") + len(word)) if unit else ("", at)


_ONES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen"
    " eighteen nineteen"
)
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
SMALL = {word: value for value, word in enumerate(_ONES.split())} | {
    word: value for value, word in zip(range(20, 100, 10), _TENS.split(), strict=True)
}
GREAT = {"hundred": 100, "thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000}

NUMBER_WORDS = frozenset([*SMALL, *GREAT])

NUMBER = r"\d{1,3}(?:[ '’]\d{3})+(?![\d])(?:\.\d+)?|\d+(?:[.,]\d+)*|\.\d+"


def plain_number(written: str) -> str:
    """A number without the signs that group thousands, with a decimal point. Its precision is kept."""
    if re.fullmatch(r"-?\d{1,3}(?:([ ,'’])\d{3})(?:\1\d{3})*(?:\.\d+)?", written):
        return re.sub(r"[ ,'’]", "", written)
    if re.fullmatch(r"-?\d+,\d{1,2}", written):
        return written.replace(",", ".")
    return f"0{written}" if written.startswith(".") else written


def value_of(written: str) -> Decimal | None:
    """The value of number words: "twenty-four" is 24, "two hundred and five" 205. None for anything but one number."""
    total, part, last = 0, 0, 0
    for word in re.split(r"[\s,-]+", written.casefold()):
        if word == "and":
            continue
        if word in GREAT:
            step = GREAT[word]
            part = (part or 1) * step
            if step > 100:
                total, part = total + part, 0
            last = 0
        else:
            value = SMALL[word]
            if last and not (last >= 20 and value < 10):
                return None
            part, last = part + value, value
    return Decimal(total + part)


def scaled(text: str, plain: str, end: int) -> tuple[str, int]:
    """A number in digits with the word of scale that follows `end`, and the end of both.

    "1.5 million" is 1500000; anything else stays `plain` and ends where it did.
    """
    match = re.compile(r" (thousand|million|billion)\b", re.IGNORECASE).match(text, end)
    if match is None or not re.fullmatch(r"-?\d+(\.\d+)?", plain):
        return plain, end
    value = Decimal(plain) * GREAT[match[1].casefold()]
    return format(value.normalize(), "f"), match.end()


class Figure(NamedTuple):
    """A figure as written (unit included), its comparable form, and its unit, if any.

    `parts` are those of a name next to a number (TLS 1.2): each may occur alone.
    """

    shown: str
    plain: str
    unit: str = ""
    parts: tuple["Figure", ...] = ()


# Start and end of a figure in the text, and the figure.
Found = tuple[int, int, Figure]


class Kind(NamedTuple):
    """One way to write figures: its pattern, and the figures of a match, which may be none."""

    pattern: re.Pattern[str]
    read: Callable[[str, re.Match[str]], list[Found]]


_MONEY = re.compile(rf"(?P<unit>[€$£]|\b(?:EUR|USD|GBP|CHF)) ?(?P<number>{NUMBER})(?![\w-])")
_RANGE = re.compile(
    rf"(?<![\w.,:/-])(?P<low>{NUMBER}) ?(?P<sign>%?) ?[-–—] ?(?P<high>{NUMBER})(?![\w:/]|[-–—.,]\w)(?! ?[-–—])"
)
_NUMBER_WORDS = re.compile(
    rf"\b(?:{'|'.join([*SMALL, *GREAT])})(?:(?:-| |, | and )(?:{'|'.join([*SMALL, *GREAT])}))*\b", re.IGNORECASE
)


def measured(text: str, start: int, plain: str, end: int) -> Found:
    """The number `plain` at `start` to `end`, with the word of scale and the unit after it."""
    plain, end = scaled(text, plain, end)
    unit, unit_end = unit_behind(text, end)
    return start, unit_end, Figure(text[start:unit_end], plain, unit)


def _money(text: str, match: re.Match[str]) -> list[Found]:
    plain, end = scaled(text, plain_number(match["number"]), match.end())
    return [(match.start(), end, Figure(text[match.start() : end], plain, unit_of(match["unit"])))]


def _range(text: str, match: re.Match[str]) -> list[Found]:
    """Both ends of a range, each with the unit after the range."""
    _, end, high = measured(text, match.start("high"), plain_number(match["high"]), match.end())
    shown = text[match.start() : end]
    low = Figure(shown, plain_number(match["low"]), high.unit)
    return [(match.start(), match.end("low"), low), (match.start("high"), end, high._replace(shown=shown))]


def _in_words(text: str, match: re.Match[str]) -> list[Found]:
    """Number words; "one" and "zero" count only before a unit, because they are other words too."""
    value = value_of(match.group())
    if value is None:
        singles = re.compile(r"[^\W\d_]+").finditer(text, *match.span())
        small = [(word, SMALL[word.group().casefold()]) for word in singles if word.group().casefold() in SMALL]
        amounts = [measured(text, word.start(), str(number), word.end()) for word, number in small]
    else:
        amounts = [measured(text, match.start(), str(value), match.end())]
    return [one for one in amounts if one[2].unit or Decimal(one[2].plain) > 1]


MONEY = Kind(_MONEY, _money)
RANGE = Kind(_RANGE, _range)
IN_WORDS = Kind(_NUMBER_WORDS, _in_words)

_NAMED = re.compile(
    r"(?<![\w-])(?P<name>[A-Z][A-Z0-9]+s?) (?P<rest>\d[\w.]*+(?:-\w+)*+)(?! ?%)(?P<more> [A-Z][A-Z0-9]+\b)?"
)
_FIGURE = re.compile(rf"(?:\b[A-Za-z]\w*-)*(?:(?:(?<=[\s(])-|^-)?(?:{NUMBER})(?!\w)|\w*\d\w*)(?:[-.,:/]\w+)*")
_ACRONYM = re.compile(r"\b(?=\w*[A-Z]\w*[A-Z])[A-Za-z][A-Za-z0-9]+(?:-[A-Z0-9][A-Za-z0-9]*)*\b")


def _code(written: str) -> str:
    """A code in one form: AES256, AES-256 and AES 256 are one, and so are v1.2 and 1.2."""
    folded = re.sub(r"^v(?=\d)", "", written.casefold())
    return re.sub(r"[\s_-]+|(?<=[a-z])(?=\d)|(?<=\d)(?=[a-z])", "-", folded)


def _named(text: str, match: re.Match[str]) -> list[Found]:
    rest = match["rest"].rstrip(".")
    end = match.start("rest") + len(rest)
    name = Figure(match["name"], _acronym(match["name"]))
    _, part_end, number = _one(text, match.start("rest"), rest)
    if match["more"] and not unit_of(match["more"].strip()):
        rest, end = rest + match["more"], match.end()
    whole = Figure(text[match.start() : end], _code(f"{match['name']} {rest}"))
    return [(match.start(), max(end, part_end), whole._replace(parts=(name, number)))]


def _one(text: str, start: int, written: str) -> Found:
    """The figure `written` at `start`: a number with its unit, or a code."""
    end = start + len(written)
    if re.fullmatch(rf"-?(?:{NUMBER})", written):
        return measured(text, start, plain_number(written), end)
    attached = re.fullmatch(rf"(-?(?:{NUMBER}))-?([^\W\d_]+)", written)
    if attached and (unit := unit_of(attached[2])):
        return start, end, Figure(written, plain_number(attached[1]), unit)
    return start, end, Figure(written, _code(written))


def _figure(text: str, match: re.Match[str]) -> list[Found]:
    return [_one(text, match.start(), match.group().rstrip(".,:;/- "))]


def _acronym(written: str) -> str:
    return re.sub(r"(?<=[A-Z0-9])s$", "", written).casefold()


def _letters(text: str, match: re.Match[str]) -> list[Found]:
    return [(*match.span(), Figure(match.group(), _acronym(match.group())))]


NAMED = Kind(_NAMED, _named)
WRITTEN = Kind(_FIGURE, _figure)
ACRONYM = Kind(_ACRONYM, _letters)

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

# Specific kinds first: a text that one kind matched is not matched by others.
KINDS = (ISO_DATE, DAY_FIRST, MONTH_FIRST, CLOCK, MONEY, RANGE, NAMED, WRITTEN, IN_WORDS, ACRONYM)
_JOINED = re.compile(r" (?:to|and|or) |, ")


def _all_figures(text: str) -> Iterator[Found]:
    """Every figure with its place, kind by kind."""
    used: list[tuple[int, int]] = []
    for pattern, read in KINDS:
        fresh = [
            match
            for match in pattern.finditer(text)
            if not any(match.start() < end and start < match.end() for start, end in used)
        ]
        for match in fresh:
            for placed in read(text, match):
                used.append(placed[:2])
                yield placed


def figures(text: str) -> list[Figure]:
    """Numbers in digits or words, versions, dates, codes and acronyms of `text`, in order, each form once.

    In "10 to 20 days" both numbers are days.
    """
    even = text.translate(SAME_SIGN)
    placed = sorted(_all_figures(even), key=lambda one: one[:2])
    unique: dict[tuple[str, str], Figure] = {}
    for place, (_, end, figure) in enumerate(placed):
        follower = placed[place + 1] if place + 1 < len(placed) else None
        is_bare = not figure.unit and re.fullmatch(r"-?\d+(\.\d+)?", figure.plain)
        if is_bare and follower and follower[2].unit and _JOINED.fullmatch(even, end, follower[0]):
            figure = figure._replace(unit=follower[2].unit)
        unique.setdefault((figure.plain, figure.unit), figure)
    return list(unique.values())
