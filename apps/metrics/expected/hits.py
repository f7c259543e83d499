"""The hits of a run: which returned passages are right for which expected blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from apps.metrics.columns import Ints
from apps.metrics.expected.evidence import Evidence, Words
from apps.metrics.expected.questions import ExpectedBlock, Pages, Question, Returned
from apps.metrics.expected.rules import BLOCK, DOCUMENT, EVIDENCE, PAGES, HitRule

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
