"""A line or two of a block around the words of a search."""

import re
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
