"""Evidence and snippets in a block's text, by their places. Offsets are code points, ends exclusive."""

import re
from collections.abc import Iterable, Sequence
from itertools import takewhile
from typing import NamedTuple

LENGTH = 130


class Piece(NamedTuple):
    text: str
    hit: bool


def _densest(text: str, hits: list[tuple[int, int]], length: int) -> int:
    """The start of the hit with the most different hits after it within `length`; the first of equal ones, or 0."""
    best, start = 0, 0
    for begin, _ in hits:
        near = {text[a:b].casefold()[:6] for a, b in hits if begin <= a and b <= begin + length}
        if len(near) > best:
            best, start = len(near), begin
    return start


def snippet(text: str, sought: str, length: int = LENGTH) -> list[Piece]:
    """About `length` characters of `text` where most of the words are close together, cut at words; those are hits."""
    text = " ".join(text.split())
    stems = {word.casefold()[:6] for word in re.findall(r"\w{3,}", sought)}
    words = [(match.start(), match.end()) for match in re.finditer(r"\w+", text)]
    hits = [span for span in words if text[span[0] : span[1]].casefold()[:6] in stems]
    first = _densest(text, hits, length)
    start = max((begin for begin, _ in words if begin <= max(0, first - length // 4)), default=0) if first else 0
    end = min((stop for _, stop in words if stop >= start + length), default=len(text))
    pieces: list[Piece] = [Piece("… ", False)] if start else []
    at = start
    for begin, stop in hits:
        if begin < at or stop > end:
            continue
        pieces += [Piece(text[at:begin], False), Piece(text[begin:stop], True)]
        at = stop
    pieces.append(Piece(text[at:end], False))
    if end < len(text):
        pieces.append(Piece(" …", False))
    return [piece for piece in pieces if piece.text]


Span = tuple[int, int]
SURROUNDINGS = 200


def spans_of(text: str, quotes: Sequence[str]) -> list[Span | None]:
    """The first place of each pasted quote in `text`, all white space being equal; None where it is not in it."""
    spans: list[Span | None] = []
    for quote in quotes:
        parts = [re.escape(part) for part in quote.split()]
        match = re.search(r"\s+".join(parts), text) if parts else None
        spans.append(match.span() if match else None)
    return spans


def placed(old_text: str, spans: Sequence[Span], new_text: str) -> list[Span | None]:
    """The place in `new_text` of each passage of `old_text`; None for one that is no longer in it.

    Where a passage occurs more than once, the place with the most of its old context.
    """
    matches: list[Span | None] = []
    for start, end in spans:
        parts = [re.escape(part) for part in old_text[start:end].split()]
        places = [match.span() for match in re.finditer(r"\s+".join(parts), new_text)] if parts else []
        around = (old_text[:start], old_text[end:])
        matches.append(max(places, key=lambda place: _shared(around, new_text, place), default=None))
    return matches


def holds(text: str, quotes: Iterable[str]) -> bool:
    """Whether each quote is in `text`, all white space being equal: then `placed` finds a place for it."""
    return all(quote.split() and (quote in text or _joined(quote) in _joined(text)) for quote in quotes)


def _joined(text: str) -> str:
    return " ".join(text.split())


def _shared(around: tuple[str, str], text: str, place: Span) -> int:
    """How many characters directly before and after `place` are those of `around`."""
    before, behind = around[0][::-1], around[1]
    return _common(before, text[: place[0]][::-1]) + _common(behind, text[place[1] :])


def _common(one: str, other: str) -> int:
    alike = takewhile(lambda pair: pair[0] == pair[1], zip(one[:SURROUNDINGS], other[:SURROUNDINGS], strict=False))
    return sum(1 for _ in alike)


def moved(old_text: str, spans: Sequence[Span], new_text: str) -> list[Span]:
    """The spans of `old_text` at their places in `new_text`; those that are no longer in it are left out."""
    return [span for span in placed(old_text, spans, new_text) if span is not None]


def quoted(text: str, spans: Sequence[Span]) -> str:
    """The marked passages, one per line, in the order of the text."""
    return "\n".join(text[start:end] for start, end in sorted(spans))
