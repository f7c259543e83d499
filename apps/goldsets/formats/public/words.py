"""What must not go out: internal words, the names of people, and what the detectors find."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from apps.goldsets.formats.public.detectors import detected_in

NAME, WORD = "name of a person", "internal word"
TITLES = "Mr|Mrs|Ms|Miss|Mx|Dr|Prof|Sir|Herr|Frau|Mme|Mlle|Sr|Sra|Señor|Señora"
SHORTEST_NAME = 3
"""A name with fewer letters is too often a word or an initial."""


class ForbiddenWords(NamedTuple):
    """What to look for.

    `inside` are found within words too, `whole` only as whole words, both whatever their case. `names` are names of
    people: whole, and the family name where only a person can be meant, behind a title or an initial. `allowed` are
    texts that a lead lets go out all the same, on the record.
    """

    inside: tuple[str, ...] = ()
    whole: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    allowed: tuple[str, ...] = ()


class Found(NamedTuple):
    """A text that must not go out, and what it is: NAME, WORD, or what a detector calls it."""

    word: str
    what: str


class WordSearch:
    """Searches texts for forbidden words, addresses, numbers and tokens. White space and forms of the same letter make
    no difference.
    """

    def __init__(self, words: ForbiddenWords) -> None:
        self.count = len({_folded(word) for part in words[:3] for word in part if word.strip()})
        self._allowed = {_folded(word) for word in words.allowed}
        self._inside = _pattern(map(_folded, words.inside), "", "")
        self._whole = _pattern(map(_folded, words.whole), r"(?<!\w)", r"(?!\w)")
        names = [_spaced(name) for name in words.names]
        self._names = _pattern((_folded(name) for name in names if " " in name or "@" in name), r"(?<!\w)", r"(?!\w)")
        # One name alone may be a word: "Will it rain?". Inside a sentence, with its capital, it is a person.
        alone = (name for name in names if " " not in name and "@" not in name and _is_telling(name))
        self._alone = _pattern(alone, r"(?<=[\w,;] )", r"(?!\w)")
        family = [name.split(" ")[-1] for name in names if "@" not in name]
        self._addressed = _pattern(filter(_is_telling, family), rf"(?<!\w)(?:(?:{TITLES})\.? |[A-Z]\. ?)", r"(?!\w)")

    def find(self, text: str) -> Found | None:
        return next(self.find_all(text), None)

    def find_all(self, text: str) -> Iterator[Found]:
        """What must not go out of a text: internal words, then names, then what the detectors find."""
        if not text:
            return
        spaced = _spaced(text)
        folded = spaced.casefold()
        for pattern, searched, what in (
            (self._inside, folded, WORD),
            (self._whole, folded, WORD),
            (self._names, folded, NAME),
            (self._addressed, spaced, NAME),
            (self._alone, spaced, NAME),
        ):
            for match in pattern.finditer(searched) if pattern else ():
                if match.group().casefold() not in self._allowed:
                    yield Found(match.group(), what)
        for what, found in detected_in(spaced):
            if found.casefold() not in self._allowed:
                yield Found(found, what)

    def finds(self, text: str) -> list[Found]:
        """Each text once, as what it was found first."""
        return list({_folded(found.word): found for found in reversed([*self.find_all(text)])}.values())[::-1]

    def find_in(self, texts: Iterable[str]) -> Found | None:
        return next((found for text in texts if (found := self.find(text))), None)


def texts_in(value: Any) -> Iterator[str]:
    """Every text in a plain value, without the keys of objects."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from texts_in(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from texts_in(inner)


def _pattern(words: Iterable[str], before: str, after: str) -> re.Pattern[str] | None:
    longest_first = sorted({word for word in words if word}, key=lambda word: (-len(word), word))
    if not longest_first:
        return None
    return re.compile(f"{before}(?:{'|'.join(map(re.escape, longest_first))}){after}")


def _is_telling(part: str) -> bool:
    return len(part) >= SHORTEST_NAME and part[0].isupper()


def _folded(text: str) -> str:
    return _spaced(text).casefold()


def _spaced(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).split())
