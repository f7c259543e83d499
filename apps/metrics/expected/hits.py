"""The hits of a run: which returned passages are right for which expected blocks, by id or by marked evidence."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import ceil

import numpy as np
from numpy.typing import NDArray

from apps.metrics.columns import Ints
from apps.metrics.expected.rules import (
    BLOCK,
    DOCUMENT,
    EVIDENCE,
    PAGES,
    ExpectedBlock,
    HitRule,
    Pages,
    Question,
    Returned,
)

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


Bools = NDArray[np.bool_]
Found = Iterator[tuple[int, int]]
"""Ranks from 0, each with the number of an expected block."""


@dataclass(frozen=True, eq=False)
class Hits:
    """The hits of one run under one rule.

    A row for each hit, by question and rank: the row of its question, its rank from 0, and the number of the expected
    block; a passage that is right for two expected blocks has two rows. For each question: its id, how many blocks it
    expects and how many of them it needs, how many passages were returned, and whether the rule says anything about it.
    """

    rule: HitRule
    questions: tuple[str, ...]
    question: Ints
    rank: Ints
    expected: Ints
    expected_blocks: Ints
    needed: Ints
    returned: Ints
    is_defined: Bools
    unreadable: int = 0
    """Returned passages without what the rule reads: a document, pages or text."""

    @property
    def size(self) -> int:
        return len(self.questions)

    @property
    def undefined(self) -> tuple[str, ...]:
        """The questions that the rule says nothing about."""
        return tuple(question for question, known in zip(self.questions, self.is_defined, strict=True) if not known)

    @property
    def missing(self) -> tuple[str, ...]:
        """The questions for which nothing was returned."""
        return tuple(question for question, number in zip(self.questions, self.returned, strict=True) if not number)


def find_hits(questions: Sequence[Question], returned: Mapping[str, Sequence[Returned]], rule: HitRule) -> Hits:
    """The hits among the passages returned for each question, by its id, best first.

    - `block`: the id is that of the expected block.
    - `document`: the document is that of the expected block.
    - `pages`: the document is, and the pages share one with the expected block's.
    - `evidence`: the text has at least `share` of the words of the marked evidence in order, within a stretch of twice
      as many words; the spans of a block count together. With `together` the words of a span are those in runs of four
      which any of the passages so far has, and the passage that completes the share is the hit.

    A passage returned again, the same in everything, is no second hit. A question is undefined when one of its expected
    blocks lacks what the rule reads: pages, a document, or words. A question without an entry in `returned` has nothing
    returned.
    """
    finder = _FINDERS[EVIDENCE, rule.together] if rule.kind == EVIDENCE else _FINDERS[rule.kind, False]
    search = finder(rule)
    rows: list[tuple[int, int, int]] = []
    unreadable = 0
    known = np.array([bool(one.expected) and all(map(search.reads, one.expected)) for one in questions], dtype=bool)
    for place, question in enumerate(questions):
        passages = returned.get(question.id, ())
        unreadable += sum(not search.can_read(passage) for passage in passages)
        if known[place]:
            rows += [(place, rank, number) for rank, number in search.found(question.expected, passages)]
    columns = np.array(sorted(rows), dtype=np.int64).reshape(-1, 3)
    return Hits(
        rule,
        tuple(question.id for question in questions),
        columns[:, 0].copy(),
        columns[:, 1].copy(),
        columns[:, 2].copy(),
        np.array([len(question.expected) for question in questions], dtype=np.int64),
        np.array([question.needed for question in questions], dtype=np.int64),
        np.array([len(returned.get(question.id, ())) for question in questions], dtype=np.int64),
        known,
        unreadable,
    )


def _distinct(passages: Sequence[Returned]) -> Iterator[tuple[int, Returned]]:
    """The passages with their ranks, without those returned before."""
    seen = set()
    for rank, passage in enumerate(passages):
        if passage not in seen:
            seen.add(passage)
            yield rank, passage


class _ByFacts:
    """Rules that compare an id, a document or pages."""

    def __init__(self, rule: HitRule) -> None:
        self.reads, self.can_read, self.is_hit = _COMPARED[rule.kind]

    def found(self, expected: Sequence[ExpectedBlock], passages: Sequence[Returned]) -> Found:
        for rank, passage in _distinct(passages):
            for number, block in enumerate(expected):
                if self.is_hit(block, passage):
                    yield rank, number


def _overlap(one: Pages | None, other: Pages | None) -> bool:
    return one is not None and other is not None and one[0] <= other[1] and other[0] <= one[1]


Compared = tuple[Callable[[ExpectedBlock], bool], Callable[[Returned], bool], Callable[[ExpectedBlock, Returned], bool]]
_COMPARED: dict[str, Compared] = {
    BLOCK: (
        lambda block: bool(block.block_id),
        lambda passage: bool(passage.id),
        lambda block, passage: block.block_id == passage.id,
    ),
    DOCUMENT: (
        lambda block: bool(block.document_id),
        lambda passage: bool(passage.document_id),
        lambda block, passage: block.document_id == passage.document_id,
    ),
    PAGES: (
        lambda block: bool(block.document_id) and block.pages is not None,
        lambda passage: bool(passage.document_id) and passage.pages is not None,
        lambda block, passage: block.document_id == passage.document_id and _overlap(block.pages, passage.pages),
    ),
}


class _ByEvidence:
    """The rule that compares words. Each text is taken apart once, however often it is returned or expected."""

    def __init__(self, rule: HitRule) -> None:
        self.share = rule.share
        self._evidence: dict[tuple[str, ...], Evidence] = {}
        self._words: dict[str, Words] = {}

    def evidence(self, block: ExpectedBlock) -> Evidence:
        if block.evidence not in self._evidence:
            self._evidence[block.evidence] = Evidence(block.evidence)
        return self._evidence[block.evidence]

    def words(self, passage: Returned) -> Words:
        if passage.text not in self._words:
            self._words[passage.text] = Words(passage.text)
        return self._words[passage.text]

    def reads(self, block: ExpectedBlock) -> bool:
        return self.evidence(block).size > 0

    def can_read(self, passage: Returned) -> bool:
        return bool(passage.text)

    def found(self, expected: Sequence[ExpectedBlock], passages: Sequence[Returned]) -> Found:
        evidence = [self.evidence(block) for block in expected]
        for rank, passage in _distinct(passages):
            words = self.words(passage)
            for number, one in enumerate(evidence):
                if one.is_held(words, self.share):
                    yield rank, number


class _ByEvidenceTogether(_ByEvidence):
    """The rule that unites the words of several passages."""

    def found(self, expected: Sequence[ExpectedBlock], passages: Sequence[Returned]) -> Found:
        for number, block in enumerate(expected):
            evidence = self.evidence(block)
            united = [0] * len(evidence.spans)
            for rank, passage in _distinct(passages):
                covered = evidence.covered_by(self.words(passage))
                united = [before | more for before, more in zip(united, covered, strict=True)]
                if sum(bits.bit_count() for bits in united) >= evidence.needed(self.share):
                    yield rank, number
                    break


_FINDERS: dict[tuple[str, bool], Callable[[HitRule], _ByFacts | _ByEvidence]] = {
    (BLOCK, False): _ByFacts,
    (DOCUMENT, False): _ByFacts,
    (PAGES, False): _ByFacts,
    (EVIDENCE, False): _ByEvidence,
    (EVIDENCE, True): _ByEvidenceTogether,
}
