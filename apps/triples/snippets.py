"""A line or two of a block with the words that were searched for."""

import re
from typing import NamedTuple

LENGTH = 130


class Piece(NamedTuple):
    text: str
    hit: bool


def snippet(text: str, sought: str, length: int = LENGTH) -> list[Piece]:
    """About `length` characters of `text` around the first sought word, cut at words; sought words are hits."""
    text = " ".join(text.split())
    stems = {word.casefold()[:6] for word in re.findall(r"\w{3,}", sought)}
    words = [(match.start(), match.end()) for match in re.finditer(r"\w+", text)]
    hits = [span for span in words if text[span[0] : span[1]].casefold()[:6] in stems]
    first = hits[0][0] if hits else 0
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
