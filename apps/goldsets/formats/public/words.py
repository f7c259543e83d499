"""Words that must not go out: internal ones, and the names of people."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

SHORTEST_PART = 3
"""A part of a name with fewer letters is too often a word or an initial."""


class ForbiddenWords(NamedTuple):
    """What to look for.

    `inside` are found within words too, `whole` only as whole words, both whatever their case. `names` are names of
    people: whole as they are, and each part of them where it is written with the same capitals.
    """

    inside: tuple[str, ...] = ()
    whole: tuple[str, ...] = ()
    names: tuple[str, ...] = ()


class Found(NamedTuple):
    word: str
    is_name: bool


class WordSearch:
    """Searches texts for forbidden words. White space and forms of the same letter make no difference."""

    def __init__(self, words: ForbiddenWords) -> None:
        self.count = len({_folded(word) for part in words for word in part if word.strip()})
        self._inside = _pattern(map(_folded, words.inside), "", "")
        self._whole = _pattern(map(_folded, words.whole), r"(?<!\w)", r"(?!\w)")
        self._names = _pattern(map(_folded, words.names), r"(?<!\w)", r"(?!\w)")
        parts = (part for name in words.names for part in _spaced(name).split(" ") if _is_telling(part))
        self._parts = _pattern(parts, r"(?<!\w)", r"(?!\w)")

    def find(self, text: str) -> Found | None:
        """The first forbidden word of the text, internal words before names."""
        if not text:
            return None
        folded = _folded(text)
        for pattern, searched, is_name in (
            (self._inside, folded, False),
            (self._whole, folded, False),
            (self._names, folded, True),
            (self._parts, _spaced(text), True),
        ):
            if pattern is not None and (match := pattern.search(searched)):
                return Found(match.group(), is_name)
        return None

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
    return len(part) >= SHORTEST_PART and part[0].isupper()


def _folded(text: str) -> str:
    return _spaced(text).casefold()


def _spaced(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).split())
