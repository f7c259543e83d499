"""What a missed question and the passages that were returned for it have in common, in words and figures."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from apps.metrics.expected.hits import Evidence, Words, words_of

Span = tuple[int, int]
_WORD = re.compile(r"[^\W_]+")
_BETWEEN = re.compile(r"[^\w\n]{1,3}")
SHORTEST = 4
"""Shorter words without a digit are in every text, and tell nothing."""


def telling_words(text: str) -> list[str]:
    """The words of a text that tell what it is about: figures, and words of some length; each once, in order."""
    return list(dict.fromkeys(word for word in words_of(text) if _is_figure(word) or len(word) >= SHORTEST))


def _is_figure(word: str) -> bool:
    return any(letter.isdigit() for letter in word)


def shared_spans(text: str, words: Iterable[str]) -> list[Span]:
    """Where `text` has one of the words, as [start, end); neighbours that are only a space apart are one span."""
    wanted = set(words)
    spans: list[Span] = []
    for match in _WORD.finditer(text):
        if not wanted.intersection(words_of(match[0])):
            continue
        start, end = match.span()
        if spans and _BETWEEN.fullmatch(text, spans[-1][1], start):
            start = spans.pop()[0]
        spans.append((start, end))
    return spans


def finding(*, returned: int, hit_rank: int, cutoff: int) -> str:
    """Why it is a miss, as one sentence. `returned`: how many passages; `hit_rank`: of the first hit, or 0."""
    if not returned:
        return f"Nothing was returned; only the first {cutoff} count."
    first = "the first counts" if cutoff == 1 else f"the first {cutoff} count"
    if hit_rank:
        return f"Expected at rank {hit_rank:,}; only {first}."
    return f"The expected passage is not among the {returned:,} returned; only {first}."


def known_of(
    digest: str, version: int | None, *, wrong: Collection[str], expected: Collection[int], states: Mapping[int, str]
) -> str:
    """What is known about a returned passage, for one question: wrong, expected, the state as a candidate block, or "".

    `version` is the block version that it is, None for one that a system cut; `wrong` are digests of passages.
    """
    if digest in wrong:
        return "wrong"
    if version is None:
        return ""
    return "expected" if version in expected else states.get(version, "")


class Likeness(NamedTuple):
    """How many figures, or else how many telling words, of the expected answer a text has."""

    found: int
    of: int
    is_figures: bool

    @property
    def words(self) -> str:
        """What came first has, as the end of a sentence; "" where the answer has nothing to compare."""
        noun = ("figure" if self.is_figures else "word") + ("" if self.of == 1 else "s")
        if not self.of:
            return ""
        if self.found == self.of:
            count = {1: "the only", 2: "both"}.get(self.of, "all")
            return f"has {count} {noun} of the expected answer"
        if not self.found:
            return f"has no {noun.removesuffix('s')} of the expected answer"
        return f"has {self.found:,} of the {self.of:,} {noun} of the expected answer"


def likeness(answer: str, text: str) -> Likeness:
    """Figures decide where the answer has any: they are what a passage must give exactly."""
    telling, present = telling_words(answer), Words(text).distinct
    figures = [word for word in telling if _is_figure(word)]
    compared = figures or telling
    return Likeness(sum(word in present for word in compared), len(compared), bool(figures))


class Held(NamedTuple):
    """How many words of a marked evidence a text has in order, of how many, and how many the rule needs."""

    words: int
    of: int
    needed: int


def held_of(evidences: Iterable[Sequence[str]], text: str, share: float) -> Held | None:
    """Of the evidence of each expected block the one that the text has most of; None without any words."""
    passage, best = Words(text), None
    for texts in evidences:
        evidence = Evidence(texts)
        if not evidence.size:
            continue
        held = Held(evidence.held(passage), evidence.size, evidence.needed(share))
        if best is None or held.words * best.of > best.words * held.of:
            best = held
    return best


class Step(NamedTuple):
    """One line of the ladder: a rank from 1, or the ranks `first` to `last` that are left out."""

    first: int
    last: int
    is_gap: bool = False
    is_cutoff: bool = False


def ladder(returned: int, cutoff: int, expected: int, read: int) -> list[Step]:
    """The ranks to list: up to the cutoff and one beyond, the expected one, the one being read; the rest as gaps.

    `expected` is 0 where no expected passage was returned. The cutoff is a line of its own after its rank.
    """
    shown = {*range(1, min(cutoff + 1, returned) + 1), expected, read} - {0}
    steps: list[Step] = []
    before = 0
    for rank in sorted(rank for rank in shown if rank <= returned):
        if rank - before == 2:
            steps.append(Step(rank - 1, rank - 1))
        elif rank - before > 2:
            steps.append(Step(before + 1, rank - 1, is_gap=True))
        steps.append(Step(rank, rank))
        if rank == cutoff:
            steps.append(Step(cutoff, cutoff, is_cutoff=True))
        before = rank
    return steps
