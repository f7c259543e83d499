"""What the passages that a run returned earn by text, counted. No database."""

from __future__ import annotations

from typing import TypedDict

import numpy as np
from numpy.typing import NDArray

from apps.metrics.by_text.coverage import ROUNDING, Evidence
from apps.metrics.columns import (
    LOST,
    NOTHING,
    UNJUDGED,
    Covering,
    Ints,
    Judged,
    Pieces,
    pair_keys,
    place_within,
    union_lengths,
)

FIRST = 10
"""So many passages of each query are counted."""


class Earned(TypedDict):
    """How many of the first passages earn what: `grades` has the number by grade, as text.

    `repeated` cover nothing new: they hold again what those above them covered. `none` cover no block, `unjudged` cover
    blocks without a grade alone, and `lost` are not located.
    """

    grades: dict[str, int]
    repeated: int
    none: int
    unjudged: int
    lost: int


def earned_by(covering: Covering, judged: Judged, share: float, evidence: Evidence) -> Earned:
    """What the first passages of each query earn. `share` and `evidence` are those of the covering."""
    earnings = covering.earnings(judged)
    is_first = earnings.rank < FIRST
    grade = earnings.grade[is_first]
    is_again = np.isin(pair_keys(earnings.query, earnings.rank)[is_first], _again(covering, share, evidence))
    return {
        "grades": {str(one): int((grade == one).sum()) for one in np.unique(grade[grade >= 0]).tolist()},
        "repeated": int(((grade == NOTHING) & is_again).sum()),
        "none": int(((grade == NOTHING) & ~is_again).sum()),
        "unjudged": int((grade == UNJUDGED).sum()),
        "lost": int((grade == LOST).sum()),
    }


def _again(covering: Covering, share: float, evidence: Evidence) -> Ints:
    """The passages that hold enough of a block by themselves, or lie in covered blocks with that share of their words.

    Of those that cover nothing new, the blocks are those that the passages above cover.
    """
    pieces = covering.pieces
    rows, which = np.unique(np.column_stack((pieces.query, pieces.rank, pieces.block)), axis=0, return_inverse=True)
    which, (query, rank, block) = which.reshape(-1), rows.T
    is_enough = _held(which, pieces.first, pieces.last, len(rows)) >= _needed(covering.sizes[block], share)
    for row, pair in enumerate(zip(query.tolist(), block.tolist(), strict=True)):
        if pair in evidence:
            is_enough[row] |= _holds_marks(pieces, np.flatnonzero(which == row), evidence[pair])
    return np.union1d(pair_keys(query, rank)[is_enough], _inside_covered(covering, share))


def _inside_covered(covering: Covering, share: float) -> Ints:
    """The passages with that share of their words in blocks that are covered at their rank."""
    pieces = covering.pieces
    covered, place = pair_keys(covering.query, covering.block), pair_keys(pieces.query, pieces.block)
    order = np.argsort(covered)
    at = np.searchsorted(covered[order], place)
    known = np.flatnonzero(at < len(covered))
    known = known[covered[order][at[known]] == place[known]]
    known = known[covering.rank[order][at[known]] <= pieces.rank[known]]
    passages, which = np.unique(pair_keys(pieces.query, pieces.rank)[known], return_inverse=True)
    begin = pieces.place[known]
    held = _held(which.reshape(-1), begin, begin + pieces.last[known] - pieces.first[known], len(passages))
    query = np.repeat(np.arange(len(covering.returned)), covering.returned)
    number = np.searchsorted(pair_keys(query, place_within(query, len(covering.returned))), passages)
    found: Ints = passages[held >= _needed(covering.words[number], share)]
    return found


def _held(group: Ints, begin: Ints, end: Ints, size: int) -> Ints:
    """The length of the union of the stretches of each of `size` groups."""
    lengths = np.zeros(size, dtype=np.int64)
    groups, union = union_lengths(group, begin, end)
    lengths[groups] = union
    return lengths


def _needed(words: Ints, share: float) -> NDArray[np.float64]:
    return np.maximum(1, np.ceil(share * words - ROUNDING))


def _holds_marks(pieces: Pieces, rows: Ints, marks: list[tuple[int, int]]) -> bool:
    """Whether these pieces hold all words of the marked evidence of their block."""
    held = {word for row in rows.tolist() for word in range(pieces.first[row], pieces.last[row])}
    return all(word in held for first, last in marks for word in range(first, last))
