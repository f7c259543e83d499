"""Word differences between two texts, in time that a page has.

Lines are compared first, then the words of the lines that differ, each by a longest common subsequence. Where two
stretches have too many words to compare, one is shown as deleted and the other as inserted.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from rapidfuzz.distance import LCSseq

_WORD = re.compile(r"\s+|\w+(?:[-.’'/]\w+)*|[^\w\s]")
MOST_COMPARISONS = 10_000_000
"""Parts of one text × parts of the other that are compared; about 1,600 words each, some hundredths of a second."""


class Piece(NamedTuple):
    """`kind` is "same", "del" or "ins"."""

    kind: str
    text: str


class _Hunk(NamedTuple):
    """Equal text, then what replaces what behind it. Any of them may be empty."""

    same: str
    gone: str
    come: str

    @property
    def size(self) -> int:
        return max(len(self.gone), len(self.come))


def word_diff(old: str, new: str) -> list[Piece]:
    """Pieces that give `old` without "ins" and `new` without "del". Both empty: no pieces.

    Each changed run is one deletion, then one insertion. Equal text that is no longer than the changes on both sides of
    it belongs to the change, so that a changed phrase reads as one.
    """
    pieces = []
    for hunk in _readable(_hunks(old, new)):
        pieces += [Piece("same", hunk.same), Piece("del", hunk.gone), Piece("ins", hunk.come)]
    return [piece for piece in pieces if piece.text]


def _hunks(old: str, new: str) -> Iterator[_Hunk]:
    for lines in _compared(old.splitlines(keepends=True), new.splitlines(keepends=True)):
        yield _Hunk(lines.same, "", "")
        yield from _compared(_WORD.findall(lines.gone), _WORD.findall(lines.come))


def _compared(before: list[str], after: list[str]) -> Iterator[_Hunk]:
    if len(before) * len(after) > MOST_COMPARISONS:
        yield _Hunk("", "".join(before), "".join(after))
        return
    same, at, other_at = "", 0, 0
    for block in LCSseq.editops(before, after).as_matching_blocks():
        yield _Hunk(same, "".join(before[at : block.a]), "".join(after[other_at : block.b]))
        at, other_at = block.a + block.size, block.b + block.size
        same = "".join(before[block.a : at])


def _readable(hunks: Iterator[_Hunk]) -> list[_Hunk]:
    """Neighbouring changes joined, and with them the equal text between two changes that are at least as long."""
    kept: list[_Hunk] = []
    for hunk in hunks:
        if kept and not kept[-1].size:
            hunk = hunk._replace(same=kept.pop().same + hunk.same)
        while kept and hunk.size and len(hunk.same) <= min(kept[-1].size, hunk.size):
            last = kept.pop()
            hunk = _Hunk(last.same, last.gone + hunk.same + hunk.gone, last.come + hunk.same + hunk.come)
        kept.append(hunk)
    return kept


def changed_spans(pieces: list[Piece], kind: str) -> list[tuple[int, int]]:
    """The spans of the pieces of `kind` ("del" or "ins") in the text that they and the unchanged ones form."""
    spans, at = [], 0
    for piece in pieces:
        if piece.kind == kind:
            spans.append((at, at + len(piece.text)))
        if piece.kind in (kind, "same"):
            at += len(piece.text)
    return spans
