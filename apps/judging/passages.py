"""Cut a block's text into paragraphs and find the one to read first. Plain values, no database."""

import re
from collections.abc import Sequence
from typing import NamedTuple

_BREAK = re.compile(r"\n[ \t]*(?:\n[ \t]*)+")
_WORD = re.compile(r"[^\W_]+")
_FEW = 7
_AFTER = 3


class Paragraph(NamedTuple):
    """A paragraph and where it starts in the block's text, in code points."""

    start: int
    text: str

    @property
    def end(self) -> int:
        """Where the paragraph ends, in code points of the block's text."""
        return self.start + len(self.text)


class Passage(NamedTuple):
    """A text's paragraphs, the one to read first, and the range that is not folded away."""

    paragraphs: list[Paragraph]
    best: int
    shown: range

    @property
    def before(self) -> int:
        """Count the paragraphs folded away above."""
        return self.shown.start

    @property
    def after(self) -> int:
        """Count the paragraphs folded away below."""
        return len(self.paragraphs) - self.shown.stop


def paragraphs(text: str) -> list[Paragraph]:
    """Split a text at blank lines; every paragraph keeps its own place in the text."""
    found = []
    position = 0
    for gap in [*_BREAK.finditer(text), None]:
        end = gap.start() if gap else len(text)
        if text[position:end].strip():
            found.append(Paragraph(position, text[position:end]))
        position = gap.end() if gap else end
    return found


def passage(text: str, query: str) -> Passage:
    """Choose the paragraph that shares most words with the query, rarer words counting more.

    The first of equals wins; a text of up to seven paragraphs is shown whole. Only query and text are looked
    at: no system, rank or score can shine through.
    """
    parts = paragraphs(text)
    best = _best(parts, query)
    if len(parts) <= _FEW:
        return Passage(parts, best, range(len(parts)))
    return Passage(parts, best, range(best, min(len(parts), best + 1 + _AFTER)))


def _best(parts: Sequence[Paragraph], query: str) -> int:
    bags = [_stems(part.text) for part in parts]
    wanted = _stems(query)
    weights = {word: 1 / sum(word in bag for bag in bags) for word in wanted if any(word in b for b in bags)}
    scores = [sum(weights[word] for word in weights if word in bag) for bag in bags]
    return scores.index(max(scores)) if scores else 0


def _stems(text: str) -> set[str]:
    return {word.casefold()[:6] for word in _WORD.findall(text)}
