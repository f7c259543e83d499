"""Figures that are numbers with a unit: money, ranges, number words."""

import re
from decimal import Decimal

from apps.triples.core.tokens.figure import Figure, Found, Kind
from apps.triples.core.tokens.numbers import GREAT, NUMBER, SMALL, plain_number, scaled, value_of
from apps.triples.core.tokens.units import unit_behind, unit_of

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
