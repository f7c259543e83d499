"""The groups of pairs on the screen, and a text cut into paragraphs with the one to read first. No database."""

import re
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import NamedTuple

from apps.common.text.words import words_of
from apps.judging.core.seeded_order import seeded_number

FIRST = 1
CHECK = 0
APART = -1


class PairPlace(NamedTuple):
    """What decides the place of a pair."""

    seat: int
    query: int
    entry: int
    pass_number: int


def groups(places: Iterable[PairPlace], *, seed: int, who: int) -> dict[int, str]:
    """The group of each seat: one for each query, and another for a pair that is in the first group already.

    A blind duplicate next to the grade it repeats would not be blind. The names come from the seed, so nobody can read
    from them which is which.
    """
    names = {}
    placed: set[tuple[int, int]] = set()
    for place in sorted(places, key=lambda place: (place.pass_number != FIRST, place.pass_number, place.seat)):
        turn = FIRST if place.pass_number in (FIRST, CHECK) else place.pass_number
        if (place.query, place.entry) in placed and turn == FIRST:
            turn = APART
        placed.add((place.query, place.entry))
        names[place.seat] = f"{seeded_number(seed, who, place.query, turn):x}"
    return names


_BREAK = re.compile(r"\n[ \t]*(?:\n[ \t]*)+")
# Whole runs of full stops at once, so that a million dots take no longer than a million letters.
_SENTENCE = re.compile(r"\S.*?(?:(?<![.!?…。！？])[.!?…。！？]++[\"'”’)\]]*+(?=\s|$)|(?<=[。！？])|$)", re.DOTALL)
_FEW = 7
_SHORT = 3_000
_AFTER = 3
_LONG = 700
_ENOUGH = 200
_MOST = 2_000


class Paragraph(NamedTuple):
    """A paragraph and where it starts in the block's text, in code points."""

    start: int
    text: str

    @property
    def end(self) -> int:
        """The end of the paragraph, in code points of the block's text."""
        return self.start + len(self.text)


class ShownPassage(NamedTuple):
    """A text's paragraphs, the one to read first, and the range that is not folded away."""

    paragraphs: list[Paragraph]
    best: int
    shown: range
    focus: tuple[int, int] | None

    @property
    def before(self) -> int:
        """How many paragraphs are folded away above."""
        return self.shown.start

    @property
    def after(self) -> int:
        """How many paragraphs are folded away below."""
        return len(self.paragraphs) - self.shown.stop


def paragraphs(text: str) -> list[Paragraph]:
    """Split a text at blank lines; every paragraph has its offset in the text."""
    parts = []
    position = 0
    for gap in [*_BREAK.finditer(text), None]:
        end = gap.start() if gap else len(text)
        if text[position:end].strip():
            parts.append(Paragraph(position, text[position:end]))
        position = gap.end() if gap else end
    return parts


def passage(text: str, query: str) -> ShownPassage:
    """The passage, with the paragraph that shares most words with the query; rarer words count more.

    The first of equal ones wins; a text of up to seven paragraphs that is not long is shown whole. The focus is the
    paragraph, or in a long one the sentences to begin with; None for a text without words. Only query and text are
    used: no system, rank or score can influence it.
    """
    parts = paragraphs(text)
    best = _best(parts, query)
    focus = _focus(parts[best], query) if parts else None
    if len(parts) <= _FEW and len(text) <= _SHORT:
        return ShownPassage(parts, best, range(len(parts)), focus)
    return ShownPassage(parts, best, range(best, min(len(parts), best + 1 + _AFTER)), focus)


def _focus(part: Paragraph, query: str) -> tuple[int, int]:
    """The paragraph; of a long one its best sentence, with the sentences after it until there is enough to read."""
    if len(part.text) <= _LONG:
        return part.start, part.end
    matches = islice(_SENTENCE.finditer(part.text), _MOST)
    sentences = [Paragraph(part.start + match.start(), match.group()) for match in matches]
    best = _best(sentences, query)
    start = sentences[best].start
    end = next((sentence.end for sentence in sentences[best:] if sentence.end - start >= _ENOUGH), sentences[-1].end)
    return start, end


def _best(parts: Sequence[Paragraph], query: str) -> int:
    bags = [_stems(part.text) for part in parts]
    wanted = _stems(query)
    weights = {word: 1 / sum(word in bag for bag in bags) for word in wanted if any(word in b for b in bags)}
    scores = [sum(weights[word] for word in weights if word in bag) for bag in bags]
    return scores.index(max(scores)) if scores else 0


def _stems(text: str) -> set[str]:
    return {part[:6] for word in words_of(text.casefold()) for part in word.split("_") if part}
