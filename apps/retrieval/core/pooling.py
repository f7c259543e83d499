"""Depth-k pools: the union of the top results of runs, who found each pair, and which texts need no own judgement."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
NEAR_FROM = 0.9
MARGIN = 0.2
"""Signatures only estimate: texts within this margin below the limit, or above it, are compared by their shingles."""


class Rankings(NamedTuple):
    """The entries of several runs as columns of one length, in any order. `rank` counts from 1."""

    run: Ints
    query: Ints
    position: Ints
    rank: Ints


class Union(NamedTuple):
    """A pool: one row a (query, position) pair, ascending by both.

    Pair i was found by the runs `run[offsets[i]:offsets[i + 1]]` (ascending), at the ranks with the same indices.
    """

    query: Ints
    position: Ints
    offsets: Ints
    run: Ints
    rank: Ints

    def found_by(self) -> Ints:
        """How many runs found each pair."""
        return np.diff(self.offsets)


class Spread(NamedTuple):
    """The number of pairs per query: smallest, median and largest, and the sum over all queries."""

    smallest: int
    median: float
    largest: int
    total: int


def columns(rankings: Iterable[tuple[int, int, NDArray[np.int32]]]) -> Rankings:
    """Columns from (run, query, positions best first) triples."""
    rows = [(run, query, np.asarray(positions, dtype=np.int64)) for run, query, positions in rankings]
    sizes = [len(positions) for _, _, positions in rows]
    empty = np.zeros(0, dtype=np.int64)
    return Rankings(
        np.repeat(np.array([run for run, _, _ in rows], dtype=np.int64), sizes),
        np.repeat(np.array([query for _, query, _ in rows], dtype=np.int64), sizes),
        np.concatenate([empty, *(positions for _, _, positions in rows)]),
        np.concatenate([empty, *(np.arange(1, size + 1) for size in sizes)]),
    )


def together(parts: Sequence[Rankings]) -> Rankings:
    """The entries of all of them."""
    return Rankings(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


def union(rankings: Rankings, depth: int) -> Union:
    """The pool of depth `depth`: every entry ranked 1 to `depth` by any run, each pair once.

    Raises ValueError when `depth` is below 1 or a run has a block twice for one query.
    """
    if depth < 1:
        raise ValueError("depth must be 1 or more")
    is_top = rankings.rank <= depth
    run, query, position, rank = (column[is_top] for column in rankings)
    order = np.lexsort((run, position, query))
    run, query, position, rank = run[order], query[order], position[order], rank[order]
    same_pair = (query[1:] == query[:-1]) & (position[1:] == position[:-1])
    if (same_pair & (run[1:] == run[:-1])).any():
        raise ValueError("a run has a block twice for one query")
    starts = np.flatnonzero(np.concatenate(([True], ~same_pair))) if len(run) else np.zeros(0, np.int64)
    return Union(query[starts], position[starts], np.append(starts, len(run)), run, rank)


def only(pool: Union, places: Ints) -> Union:
    """The part of the pool with the pairs at `places` (ascending, each once)."""
    sizes = pool.found_by()[places]
    starts = np.cumsum(sizes) - sizes
    rows = np.arange(sizes.sum()) + np.repeat(pool.offsets[:-1][places] - starts, sizes)
    offsets = np.append(starts, sizes.sum()).astype(np.int64)
    return Union(pool.query[places], pool.position[places], offsets, pool.run[rows], pool.rank[rows])


def pairs_per_query(pool: Union, queries: Ints) -> Ints:
    """How many pairs each of `queries` has; 0 where no run found a block."""
    ordered = np.sort(pool.query)
    return np.searchsorted(ordered, queries, side="right") - np.searchsorted(ordered, queries, side="left")


def spread(counts: Ints) -> Spread:
    """The distribution of pairs over queries, zeros included; all zero for no queries."""
    if not len(counts):
        return Spread(0, 0.0, 0, 0)
    return Spread(int(counts.min()), float(np.median(counts)), int(counts.max()), int(counts.sum()))


class Overlap(NamedTuple):
    """How many pairs of a pool its runs share. `runs` are ascending; `shared[i, j]` counts the pairs that both i and j
    found (on the diagonal all that i found), `alone[i]` those that only i found, `found_by[n]` those that exactly n
    runs found.
    """

    runs: Ints
    shared: NDArray[np.int64]
    alone: Ints
    found_by: Ints


def overlap(pool: Union, runs: Ints) -> Overlap:
    """The overlap of the given runs, which must include every run of the pool."""
    runs = np.unique(runs)
    counts = pool.found_by()
    pair = np.repeat(np.arange(len(counts)), counts)
    membership = np.zeros((len(counts), len(runs)), dtype=np.float64)
    membership[pair, np.searchsorted(runs, pool.run)] = 1
    shared = np.rint(membership.T @ membership).astype(np.int64)
    alone = np.rint(membership[counts == 1].sum(axis=0)).astype(np.int64)
    return Overlap(runs, shared, alone, np.bincount(counts, minlength=len(runs) + 1))


def at_most(lengths: Ints, depth: int, blocks: int) -> int:
    """The most pairs that a pool can have: the sum of `most_each`."""
    return int(most_each(lengths, depth, blocks).sum())


def most_each(lengths: Ints, depth: int, blocks: int) -> Ints:
    """The most pairs that each query can have, at most `blocks`. `lengths` is for each run (row) and query (column)
    the number of blocks that the run found or could find.
    """
    return np.minimum(np.minimum(lengths, depth).sum(axis=0), blocks)


Minima = Mapping[int, NDArray[np.uint32]]
Alike = Callable[[int, int], float]


class Representative(NamedTuple):
    """The text that is judged instead, and whether it is equal to the letter."""

    text: int
    is_exact: bool


def representatives(
    judged: Sequence[int], new: Sequence[int], digests: Mapping[int, str], minima: Minima, alike: Alike
) -> dict[int, Representative]:
    """The representative of each duplicate among the `new` texts. New texts without one are judged themselves.

    Two texts are the same when title and text are equal to the letter (exact), or when they share at least `NEAR_FROM`
    of their shingles (near; see `corpus.core.near_duplicates`). A text is only compared with texts that are judged,
    since near duplicates are not transitive.

    The texts in `judged` are judged in any case; of duplicates in `new`, which are best first, the first is. `digests`
    and `minima` are the digests and signatures of all these texts, `alike(one, other)` is their exact resemblance.
    """
    originals = list(judged)
    by_digest: dict[str, int] = {}
    for text in originals:
        by_digest.setdefault(digests[text], text)
    duplicates = {}
    for text in new:
        if (same := by_digest.get(digests[text])) is not None:
            duplicates[text] = Representative(same, is_exact=True)
        elif (same := _nearest(text, originals, minima, alike)) is not None:
            duplicates[text] = Representative(same, is_exact=False)
        else:
            originals.append(text)
            by_digest[digests[text]] = text
    return duplicates


def _nearest(text: int, originals: Sequence[int], minima: Minima, alike: Alike) -> int | None:
    """The original that resembles this text most, the first of ties; None when none reaches `NEAR_FROM`."""
    if not originals:
        return None
    rows = np.stack([minima[other] for other in originals])
    shares = (rows == minima[text][None, :]).mean(axis=1)
    close = [originals[place] for place in np.flatnonzero(shares >= NEAR_FROM - MARGIN).tolist()]
    best = max(close, key=lambda other: alike(text, other), default=None)
    return best if best is not None and alike(text, best) >= NEAR_FROM else None
