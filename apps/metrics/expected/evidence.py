"""How much of a marked evidence a returned passage has, counted in words."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Sequence
from functools import cached_property
from math import ceil

ROOM = 2
"""A passage holds evidence within a stretch of so many times its words; further apart the words are there by chance."""

RUN = 4
"""So many words in a row count as the same words where several passages hold evidence together."""

ROUNDING = 1e-9
_WORD = re.compile(r"[^\W_]+")


def words_of(text: str) -> tuple[str, ...]:
    """The words for comparison: runs of letters and digits, without differences of capitals and forms of letters."""
    return tuple(_WORD.findall(unicodedata.normalize("NFKC", text).casefold()))


class Words:
    """The words of a returned passage, prepared once for comparison with many evidences."""

    def __init__(self, text: str) -> None:
        self.words = words_of(text)
        self.distinct = frozenset(self.words)

    @cached_property
    def runs(self) -> frozenset[tuple[str, ...]]:
        """Every run of RUN words."""
        return frozenset(zip(*(self.words[start:] for start in range(RUN)), strict=False))


class Span:
    """The words of one marked evidence."""

    def __init__(self, text: str) -> None:
        self.words = words_of(text)
        self.counts = Counter(self.words)

    def __len__(self) -> int:
        return len(self.words)

    @cached_property
    def _places(self) -> dict[str, int]:
        """For each word the bits of its places in the evidence."""
        bits: defaultdict[str, int] = defaultdict(int)
        for place, word in enumerate(self.words):
            bits[word] |= 1 << place
        return dict(bits)

    def most_in(self, passage: Words) -> int:
        """An upper bound on `in_order`, at a fraction of its cost."""
        missing = self.counts.keys() - passage.distinct
        return len(self.words) - sum(map(self.counts.__getitem__, missing))

    def in_order(self, passage: Words) -> int:
        """How many of the words the passage has in this order, within a stretch of ROOM times their number.

        The longest common subsequence with any such stretch.
        """
        words, room = passage.words, ROOM * len(self.words)
        if len(words) <= room:
            return self._common(words)
        best = 0
        for start, word in enumerate(words):
            if word in self._places:
                best = max(best, self._common(words[start : start + room]))
        return best

    def _common(self, words: Sequence[str]) -> int:
        """The length of the longest common subsequence, bit by bit.

        Hyyrö, Bit-parallel LCS-length computation revisited (2004): a zero in `row` is a place where it grows.
        """
        whole = (1 << len(self.words)) - 1
        row = whole
        for word in words:
            if matches := self._places.get(word, 0) & row:
                row = ((row + matches) | (row - matches)) & whole
        return len(self.words) - row.bit_count()

    def covered_by(self, passage: Words) -> int:
        """The places of the words that are in runs of RUN which the passage has, as bits; of all words if fewer."""
        size = len(self.words)
        if size < RUN:
            return (1 << size) - 1 if self.in_order(passage) == size else 0
        covered = 0
        for start in range(size - RUN + 1):
            if self.words[start : start + RUN] in passage.runs:
                covered |= ((1 << RUN) - 1) << start
        return covered


class Evidence:
    """The marked evidence of an expected block: all its spans count together."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.spans = [span for span in map(Span, texts) if len(span)]
        self.size = sum(map(len, self.spans))

    def needed(self, share: float) -> int:
        """How many words make this share, rounded up."""
        return ceil(share * self.size - ROUNDING)

    def held(self, passage: Words) -> int:
        """How many of its words the passage has in order."""
        return sum(span.in_order(passage) for span in self.spans)

    def is_held(self, passage: Words, share: float) -> bool:
        needed = self.needed(share)
        return sum(span.most_in(passage) for span in self.spans) >= needed and self.held(passage) >= needed

    def covered_by(self, passage: Words) -> tuple[int, ...]:
        """For each span the places of its words that the passage has in runs, as bits."""
        return tuple(span.covered_by(passage) for span in self.spans)
