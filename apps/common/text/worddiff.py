"""Word differences between two texts."""

import re
from difflib import SequenceMatcher
from typing import NamedTuple

_TOKEN = re.compile(r"\s+|\w+(?:[-.’'/]\w+)*|[^\w\s]")


class Piece(NamedTuple):
    """`kind` is "same", "del" or "ins"."""

    kind: str
    text: str


def _islands_joined(pieces: list[Piece]) -> list[Piece]:
    """Join changes that only white space separates, so that a changed phrase reads as one."""
    joined: list[Piece] = []
    for index, piece in enumerate(pieces):
        between = 0 < index < len(pieces) - 1 and piece.kind == "same" and not piece.text.strip()
        if between and pieces[index - 1].kind != "same" and pieces[index + 1].kind != "same":
            joined += [Piece("del", piece.text), Piece("ins", piece.text)]
        else:
            joined.append(piece)
    return joined


def _runs_merged(pieces: list[Piece]) -> list[Piece]:
    """One deletion and one insertion per changed run, the deletion first."""
    merged: list[Piece] = []
    gone = come = ""
    for piece in [*pieces, Piece("same", "")]:
        if piece.kind == "del":
            gone += piece.text
        elif piece.kind == "ins":
            come += piece.text
        else:
            merged += [Piece(kind, text) for kind, text in (("del", gone), ("ins", come)) if text]
            gone = come = ""
            if piece.text:
                merged.append(piece)
    return merged


def word_diff(old: str, new: str) -> list[Piece]:
    """Pieces that give `old` without "ins" and `new` without "del". Both empty: no pieces."""
    before, after = _TOKEN.findall(old), _TOKEN.findall(new)
    pieces: list[Piece] = []
    for tag, a0, a1, b0, b1 in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if tag == "equal":
            pieces.append(Piece("same", "".join(before[a0:a1])))
            continue
        if a1 > a0:
            pieces.append(Piece("del", "".join(before[a0:a1])))
        if b1 > b0:
            pieces.append(Piece("ins", "".join(after[b0:b1])))
    return _runs_merged(_islands_joined(pieces))


def changed_spans(pieces: list[Piece], kind: str) -> list[tuple[int, int]]:
    """The spans of the pieces of `kind` ("del" or "ins") in the text that they and the unchanged ones form."""
    spans, at = [], 0
    for piece in pieces:
        if piece.kind == kind:
            spans.append((at, at + len(piece.text)))
        if piece.kind in (kind, "same"):
            at += len(piece.text)
    return spans
