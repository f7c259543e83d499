"""Which blocks returned passages cover, one after the other.

A block is covered at the first rank at which the passages so far, together, hold at least a share of its words, or all
of its marked evidence.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from apps.metrics.by_text.index import Located
from apps.metrics.columns import Covering, Ints, Pieces, pair_keys, within
from apps.metrics.expected.rules import USUAL_SHARE

ROUNDING = 1e-9
Evidence = Mapping[tuple[int, int], list[tuple[int, int]]]
"""Marked evidence by the row of the query and the number of the block: words from … to before … of the block."""


class ReturnedTexts(NamedTuple):
    """What a run returned: for each passage the row of its query, its rank from 0, and the number of its text."""

    query: Ints
    rank: Ints
    text: Ints


def covering(
    returned: ReturnedTexts,
    located: Located,
    sizes: Ints,
    queries: int,
    *,
    share: float = USUAL_SHARE,
    evidence: Evidence | None = None,
) -> Covering:
    """What a run covers. `located` is of its texts, `sizes` are the words of each block by number, and `queries` is the
    number of queries. Ranks of a query have no gaps.
    """
    pieces = _pieces(returned, located)
    is_lost = ~located.is_located[returned.text]
    query, rank, block = _covered(pieces, sizes, share, evidence or {})
    return Covering(
        query,
        rank,
        block,
        np.bincount(returned.query, minlength=queries),
        returned.query[is_lost],
        returned.rank[is_lost],
        pieces,
        sizes,
        located.words[returned.text[np.lexsort((returned.rank, returned.query))]],
    )


def _pieces(returned: ReturnedTexts, located: Located) -> Pieces:
    """The pieces of blocks that each returned passage holds, by query and rank; none of one that is not located."""
    order = np.lexsort((returned.rank, returned.query))
    order = order[located.is_located[returned.text[order]]]
    text = returned.text[order]
    first = np.searchsorted(located.passage, text, side="left")
    counts = np.searchsorted(located.passage, text, side="right") - first
    row = np.repeat(np.arange(len(order)), counts)
    run = first[row] + within(counts)
    return Pieces(
        returned.query[order][row],
        returned.rank[order][row],
        located.block[run],
        located.first[run],
        located.last[run],
        located.place[run],
    )


def _covered(pieces: Pieces, sizes: Ints, share: float, evidence: Evidence) -> tuple[Ints, Ints, Ints]:
    """Query, rank and block of each block that is covered, by query and rank."""
    pairs, group = np.unique(pair_keys(pieces.query, pieces.block), return_inverse=True)
    group = group.reshape(-1)
    query, block = pairs >> 32, pairs & 0xFFFFFFFF
    needed = np.maximum(1, np.ceil(share * sizes[block] - ROUNDING)).astype(np.int64)
    held = np.bincount(group, weights=pieces.last - pieces.first, minlength=len(pairs))
    marks = {
        place: evidence[key]
        for place, key in enumerate(zip(query.tolist(), block.tolist(), strict=True))
        if key in evidence
    }
    is_open = held >= needed
    is_open[list(marks)] = True
    group, first_rank, word = _first_ranks(pieces, group, is_open)
    rank = _reached(group, first_rank, needed)
    for place, spans in marks.items():
        inside = np.flatnonzero(group == place)
        rank[place] = min(rank[place], _evidence_rank(first_rank[inside], word[inside], spans))
    is_covered = rank < NEVER
    query, rank, block = query[is_covered], rank[is_covered], block[is_covered]
    order = np.lexsort((block, rank, query))
    return query[order], rank[order], block[order]


NEVER = np.iinfo(np.int64).max


def _first_ranks(pieces: Pieces, group: Ints, is_open: NDArray[np.bool_]) -> tuple[Ints, Ints, Ints]:
    """For each word of each of these groups that is held at all: the group, the first rank, and the word."""
    chosen = is_open[group]
    group, rank, first = group[chosen], pieces.rank[chosen], pieces.first[chosen]
    length = pieces.last[chosen] - first
    row = np.repeat(np.arange(len(length)), length)
    word = first[row] + within(length)
    keys = pair_keys(group[row], word)
    order = np.lexsort((rank[row], keys))
    keys, rank = keys[order], rank[row][order]
    is_first = np.ones(len(keys), dtype=bool)
    is_first[1:] = keys[1:] != keys[:-1]
    keys, rank = keys[is_first], rank[is_first]
    return keys >> 32, rank, keys & 0xFFFFFFFF


def _reached(group: Ints, first_rank: Ints, needed: Ints) -> Ints:
    """The rank at which so many words of each group are held; NEVER where fewer are."""
    order = np.lexsort((first_rank, group))
    counts = np.bincount(group, minlength=len(needed))
    starts = np.cumsum(counts) - counts
    ranks = np.full(len(needed), NEVER)
    enough = np.flatnonzero(counts >= needed)
    ranks[enough] = first_rank[order][(starts + needed - 1)[enough]]
    return ranks


def _evidence_rank(first_rank: Ints, word: Ints, spans: list[tuple[int, int]]) -> int:
    """The rank at which every word of these spans is held; NEVER where one is missing."""
    ranks = dict(zip(word.tolist(), first_rank.tolist(), strict=True))
    wanted = [place for first, last in spans for place in range(first, last)]
    return max((ranks.get(place, NEVER) for place in wanted), default=NEVER)
