"""Ids for queries without one, words by which two are the same, names of subtopics, what is noted of a variant."""

import json
import re
from collections.abc import Iterable, Iterator
from itertools import count
from typing import Any, NamedTuple

from apps.common.text.words import plain_words

VARIANT_OF, VARIANT, VARIANT_SEED = "variant_of", "variant", "variant_seed"
"""In the metadata of a variant: the outside id of the original query, the kind, and of one that was made here the seed.
One with a seed has the grades of its original."""
_NUMBERED = re.compile(r"Q([0-9]{1,9})\Z")


def free_ids(label: str) -> Iterator[str]:
    """The outside ids under which the question of a Q&A may be asked, the best one first: T-0001, T-0001-2, …"""
    yield label
    yield from (f"{label}-{number}" for number in count(2))


class QueryNames:
    """Gives a query without an id the id of the query with the same words, else the next number.

    Numbers go on after the highest id of the form Q7 or Q070, with three digits at least. So the same texts in the same
    order get the same ids, and texts that are there already keep theirs. `known` are pairs of id and text.
    """

    def __init__(self, known: Iterable[tuple[str, str]]) -> None:
        self._ids: dict[str, str] = {}
        self._texts: dict[str, str] = {}
        self._last = 0
        for query_id, text in known:
            self.learn(query_id, text)

    def learn(self, query_id: str, text: str) -> None:
        """Take an id that is given. Of several queries with the same words the first counts."""
        self._ids.setdefault(plain_words(text), query_id)
        self._texts.setdefault(query_id, text)
        if numbered := _NUMBERED.match(query_id):
            self._last = max(self._last, int(numbered.group(1)))

    def known_id(self, text: str) -> str | None:
        """The id of the query with these words, if there is one."""
        return self._ids.get(plain_words(text))

    def text_of(self, query_id: str) -> str | None:
        """The text of the query with this id, if there is one."""
        return self._texts.get(query_id)

    def id_for(self, text: str) -> str:
        """The id of the query with these words; a new one is given once."""
        if known := self.known_id(text):
            return known
        query_id = f"Q{self._last + 1:03}"
        self.learn(query_id, text)
        return query_id


MOST_FACETS = 12
LONGEST_WORDS = 300
_FACET_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,19}")
_AFTER_FACET = re.compile(rf";\s*(?={_FACET_ID.pattern}\s*=)")
NO_FACET = "0"
"""What files of judgements write where a grade is of no subtopic."""


class Facet(NamedTuple):
    """A subtopic of a query: a short id, which judgements and files name, and its words."""

    id: str
    words: str


def stored_facets(facets: Iterable[Facet]) -> list[dict[str, str]]:
    """Subtopics as a query keeps them, in their order."""
    return [facet._asdict() for facet in facets]


def parse_facets(given: Any, *, are_lines: bool = False) -> list[Facet]:
    """Subtopics from `id=words; id=words`, or from a list of objects with id and words, also as JSON text.

    With `are_lines` each line is one; where no line has an id they are numbered from 1. Raises ValueError with a
    sentence.
    """
    if isinstance(given, str):
        given = _from_text(given, are_lines=are_lines)
    if not isinstance(given, list) or any(not isinstance(one, dict) or one.keys() != {"id", "words"} for one in given):
        raise ValueError("subtopics are id=words; id=words, or a list of objects with id and words")
    facets = [Facet(str(one["id"]).strip(), " ".join(str(one["words"]).split())) for one in given]
    if len(facets) > MOST_FACETS:
        raise ValueError(f"a query has at most {MOST_FACETS} subtopics, and these are {len(facets)}")
    for number, facet in enumerate(facets):
        if fault := _facet_fault(facet, {earlier.id for earlier in facets[:number]}):
            raise ValueError(fault)
    return facets


def _from_text(text: str, *, are_lines: bool) -> Any:
    text = text.strip()
    if text.startswith("["):
        try:
            return json.loads(text)
        except ValueError:
            raise ValueError("the list of subtopics is no JSON") from None
    lines = [line for line in text.splitlines() if line.strip()]
    if are_lines and not any(re.match(rf"\s*{_FACET_ID.pattern}\s*=", line) for line in lines):
        return [{"id": str(number), "words": line} for number, line in enumerate(lines, start=1)]
    written = (part.strip("; ") for line in lines for part in _AFTER_FACET.split(line))
    parts = [part.partition("=") for part in written if part]
    if without := next((part for part, mark, _ in parts if not mark), ""):
        raise ValueError(f"“{without.strip()}” has no id: write id=words")
    return [{"id": name, "words": words} for name, _, words in parts]


def _facet_fault(facet: Facet, taken: set[str]) -> str | None:
    if not _FACET_ID.fullmatch(facet.id) or facet.id == NO_FACET:
        return (
            f"“{facet.id}” cannot be the id of a subtopic: at most 20 letters, digits, hyphens, dots and underscores,"
            " and not 0, which means no subtopic in files"
        )
    if facet.id in taken:
        return f"two subtopics have the id {facet.id}"
    if not facet.words or len(facet.words) > LONGEST_WORDS:
        return f"subtopic {facet.id} needs words, at most {LONGEST_WORDS} characters"
    return None
