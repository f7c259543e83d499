"""Ids for queries that come without one, the words by which two are the same, and what is noted of a variant."""

import re
from collections.abc import Iterable, Iterator
from itertools import count

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

    Numbers go on after the highest id of the form Q7 or Q007, with three digits at least. So the same texts in the same
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
