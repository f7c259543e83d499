"""How wordings are cut into words, figures and paragraphs. Plain text in, plain values out."""

import re
from typing import NamedTuple

_WORD = re.compile(r"\w+(?:[-.’'/]\w+)*")
# A figure: anything with a digit in it, joined parts and a unit sign included (AES-256-GCM, 4.4, 99.9%, 08:00, v2.1).
_FIGURE = re.compile(r"(?:\b[A-Z]\w*-)*[€$£]?\w*\d\w*(?:[-.,:/]\w+)*(?:\s?%)?")
_ACRONYM = re.compile(r"\b(?=\w*[A-Z]\w*[A-Z])[A-Za-z][A-Za-z0-9]+(?:-[A-Z0-9][A-Za-z0-9]*)*\b")

_FROM_TWO_ON = (
    "two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen"
    " nineteen twenty"
)
NUMBER_WORDS = {word: str(value) for value, word in enumerate(_FROM_TWO_ON.split(), start=2)} | {
    "thirty": "30",
    "forty": "40",
    "fifty": "50",
    "sixty": "60",
    "ninety": "90",
    "hundred": "100",
}

_UNIT_WORDS = (
    "second minute hour day week month quarter year percent ms kb mb gb tb kib mib gib tib bit byte km cm mm kg mg ml"
    " hz khz mhz ghz people person time copy"
)
UNITS = frozenset(_UNIT_WORDS.split())

_SMALL_WORDS = (
    "a an the of to in on at for by with and or is are was were be been do does did has have had it its this that"
    " which what who whom whose when where why how from as"
)
STOP_WORDS = frozenset(_SMALL_WORDS.split())


class Figure(NamedTuple):
    """A number, version or acronym as written (unit included), its comparable form, and its unit, if any."""

    shown: str
    plain: str
    unit: str


def words(text: str) -> list[str]:
    """The words of `text`, case folded, with inner hyphens, dots, slashes and apostrophes kept."""
    return [match.casefold().replace("’", "'") for match in _WORD.findall(text)]


def _singular(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and word not in UNITS else word


def _with_unit(text: str, start: int, end: int) -> Figure:
    """The figure at `text[start:end]`, taken together with the unit that stands right behind it."""
    number = text[start:end]
    follower = _WORD.match(text, _skip(text, end))
    unit = _singular(follower.group().casefold()) if follower else ""
    if follower is None or unit not in UNITS:
        return Figure(number, _plain(number), "")
    return Figure(text[start : follower.end()], _plain(number), unit)


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at] in "  -‑":
        at += 1
    return at


def _plain(figure: str) -> str:
    plain = figure.casefold().replace(" ", "").rstrip(".,:;/-")
    return plain.replace(",", "") if re.fullmatch(r"[€$£]?\d{1,3}(,\d{3})+(\.\d+)?%?", plain) else plain


def _in_digits(text: str, start: int, shown: str) -> Figure:
    number, _, last = shown.rpartition("-")
    if number and _singular(last.casefold()) in UNITS:
        return Figure(shown, _plain(number), _singular(last.casefold()))
    return _with_unit(text, start, start + len(shown))


def figures(text: str) -> list[Figure]:
    """Numbers (in digits or as words from two on), versions and acronyms of `text`, in order, each form once."""
    found: list[tuple[int, Figure]] = []
    for match in _FIGURE.finditer(text):
        found.append((match.start(), _in_digits(text, match.start(), match.group().rstrip(".,:;/- "))))
    for match in _WORD.finditer(text):
        if plain := NUMBER_WORDS.get(match.group().casefold()):
            found.append((match.start(), _with_unit(text, *match.span())._replace(plain=plain)))
    for match in _ACRONYM.finditer(text):
        if not any(character.isdigit() for character in match.group()):
            found.append((match.start(), Figure(match.group(), match.group().casefold(), "")))
    unique: dict[tuple[str, str], Figure] = {}
    for _, figure in sorted(found, key=lambda pair: pair[0]):
        unique.setdefault((figure.plain, figure.unit), figure)
    return list(unique.values())


def content_words(text: str) -> frozenset[str]:
    """The words that carry the sense of a question: no stop words, plural and singular alike."""
    return frozenset(_singular(word) for word in words(text) if word not in STOP_WORDS)
