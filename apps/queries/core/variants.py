"""Other wordings of a query: typos and slips by a seed, what people leave out in a hurry, acronyms and what they mean.

The same text, kind and seed give the same variant.
"""

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import NamedTuple

from apps.common.text.words import words
from apps.queries.core.checks import small_words
from apps.queries.enums import VariantKind

EVERY = 5
"""One word of so many is mistyped, and one at least."""
_WORD = re.compile(r"[^\W\d_]+")


class Acronym(NamedTuple):
    short: str
    long: str


_ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
_PLACES = {letter: (row, place) for row, letters in enumerate(_ROWS) for place, letter in enumerate(letters)}
_NEAR = {
    letter: [
        other for other, (r, p) in _PLACES.items() if other != letter and abs(r - row) <= 1 and abs(p - place) <= 1
    ]
    for letter, (row, place) in _PLACES.items()
}
_PLAIN = str.maketrans({"ß": "ss", "ø": "o", "Ø": "O", "ł": "l", "Ł": "L", "æ": "ae", "Æ": "AE", "đ": "d", "œ": "oe"})


def degraded(text: str, kind: str, seed: int, acronyms: Sequence[Acronym] = ()) -> str:
    """The text in this wording; "" where that changes nothing, as lower case of small letters."""
    if kind == VariantKind.ACRONYM:
        return _other_form(text, acronyms)
    found = _MAKERS[VariantKind(kind)](text, Random(f"{seed}\n{kind}\n{text}"))
    return found if found and found != text else ""


def acronyms_in(lines: str) -> list[Acronym]:
    """The acronyms of a list, one a line: "TLS = transport layer security". Raises ValueError with what is wrong."""
    found = []
    for number, line in enumerate(lines.splitlines(), start=1):
        short, sign, long = (part.strip() for part in line.partition("="))
        if line.strip() and not (short and sign and long):
            raise ValueError(f"Line {number}, “{line.strip()}”: write it as “TLS = transport layer security”.")
        if short:
            found.append(Acronym(short, long))
    return found


def _other_form(text: str, acronyms: Sequence[Acronym]) -> str:
    """The first acronym of the list that a text has is spelled out; else the first that it spells out is shortened."""
    for short, long in acronyms:
        found = re.search(rf"(?<!\w){re.escape(short)}(?!\w)", text)
        if found and not re.search(rf"(?<!\w){re.escape(long)}(?!\w)", text, re.IGNORECASE):
            return text[: found.start()] + long + text[found.end() :]
    for short, long in acronyms:
        if found := re.search(rf"(?<!\w){re.escape(long)}(?!\w)", text, re.IGNORECASE):
            return text[: found.start()] + short + text[found.end() :]
    return ""


def _typo(text: str, chance: Random) -> str:
    """Two neighbouring letters in the wrong order, one missing, or one twice; the first letter of a word is right."""

    def mistyped(word: str) -> str:
        at = chance.randrange(1, len(word) - 1)
        swapped = word[:at] + word[at + 1] + word[at] + word[at + 2 :]
        ways = [swapped, word[:at] + word[at + 1 :], word[:at] + word[at] + word[at:]]
        return chance.choice([way for way in ways if way != word])

    return _mistyped(text, chance, lambda word: len(word) > 3, mistyped)


def _slip(text: str, chance: Random) -> str:
    """A letter becomes a neighbour on an English keyboard."""

    def slipped(word: str) -> str:
        at = chance.choice([place for place, letter in enumerate(word) if letter.lower() in _NEAR])
        other = chance.choice(_NEAR[word[at].lower()])
        return word[:at] + (other.upper() if word[at].isupper() else other) + word[at + 1 :]

    return _mistyped(
        text, chance, lambda word: len(word) > 2 and any(letter in _NEAR for letter in word.lower()), slipped
    )


def _mistyped(text: str, chance: Random, may: Callable[[str], bool], change: Callable[[str], str]) -> str:
    """Words changed, drawn without those in capitals: codes and acronyms stay, or it would be another query."""
    found = [match for match in _WORD.finditer(text) if may(match[0]) and not match[0].isupper()]
    drawn = chance.sample(found, min(len(found), 1 + len(found) // EVERY))
    for match in sorted(drawn, key=lambda match: match.start(), reverse=True):
        text = text[: match.start()] + change(match[0]) + text[match.end() :]
    return text


def _without_marks(text: str, chance: Random) -> str:
    letters = unicodedata.normalize("NFD", text.translate(_PLAIN))
    return unicodedata.normalize("NFC", "".join(letter for letter in letters if not unicodedata.combining(letter)))


def _telegraphic(text: str, chance: Random) -> str:
    """Its words without the small ones of its language, as in a search box."""
    small = small_words(text)
    return " ".join(word for word in words(text) if word not in small)


_MAKERS: Mapping[VariantKind, Callable[[str, Random], str]] = {
    VariantKind.TYPO: _typo,
    VariantKind.SLIP: _slip,
    VariantKind.MARKS: _without_marks,
    VariantKind.LOWER: lambda text, chance: text.lower(),
    VariantKind.TELEGRAPHIC: _telegraphic,
}
