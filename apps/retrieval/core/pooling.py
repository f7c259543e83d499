"""Depth-k pools: which blocks a set of runs puts before the judges, and which runs put them there."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


class Rankings(NamedTuple):
    """The entries of several runs as columns of one length, in any order. `rank` counts from 1."""

    run: Ints
    query: Ints
    position: Ints
    rank: Ints


class Union(NamedTuple):
    """A pool: one row a (query, position) pair, ascending by both.

    Pair i was found by the runs `run[offsets[i]:offsets[i + 1]]` (ascending), each at the rank beside it.
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
    """How many pairs each query has: the smallest, the median, the largest, and the sum over all queries."""

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


def union(rankings: Rankings, depth: int) -> Union:
    """The pool of depth `depth`: every entry ranked 1 to `depth` by any run, each pair once.

    Raises ValueError when `depth` is below 1 or a run names a block twice for one query.
    """
    if depth < 1:
        raise ValueError("depth must be 1 or more")
    kept = rankings.rank <= depth
    run, query, position, rank = (column[kept] for column in rankings)
    order = np.lexsort((run, position, query))
    run, query, position, rank = run[order], query[order], position[order], rank[order]
    same_pair = (query[1:] == query[:-1]) & (position[1:] == position[:-1])
    if (same_pair & (run[1:] == run[:-1])).any():
        raise ValueError("a run names a block twice for one query")
    starts = np.flatnonzero(np.concatenate(([True], ~same_pair))) if len(run) else np.zeros(0, np.int64)
    return Union(query[starts], position[starts], np.append(starts, len(run)), run, rank)


def only(pool: Union, places: Ints) -> Union:
    """The pairs at `places` (ascending, each once) and nothing else."""
    sizes = pool.found_by()[places]
    starts = np.cumsum(sizes) - sizes
    rows = np.arange(sizes.sum()) + np.repeat(pool.offsets[:-1][places] - starts, sizes)
    offsets = np.append(starts, sizes.sum()).astype(np.int64)
    return Union(pool.query[places], pool.position[places], offsets, pool.run[rows], pool.rank[rows])


def pairs_per_query(pool: Union, queries: Ints) -> Ints:
    """How many pairs each of `queries` has; 0 where no run found anything."""
    ordered = np.sort(pool.query)
    return np.searchsorted(ordered, queries, side="right") - np.searchsorted(ordered, queries, side="left")


def spread(counts: Ints) -> Spread:
    """The distribution of pairs over queries, zeros included; all zero for no queries."""
    if not len(counts):
        return Spread(0, 0.0, 0, 0)
    return Spread(int(counts.min()), float(np.median(counts)), int(counts.max()), int(counts.sum()))


class Overlap(NamedTuple):
    """What runs share of a pool. `runs` are ascending; `shared[i, j]` counts pairs both i and j found
    (the diagonal: pairs i found); `alone[i]` counts pairs only i found; `found_by[n]` counts pairs that
    exactly n runs found.
    """

    runs: Ints
    shared: NDArray[np.int64]
    alone: Ints
    found_by: Ints


def overlap(pool: Union, runs: Ints) -> Overlap:
    """How the pool's pairs are spread over the given runs, which must include every run of the pool."""
    runs = np.unique(runs)
    holders = pool.found_by()
    pair = np.repeat(np.arange(len(holders)), holders)
    membership = np.zeros((len(holders), len(runs)), dtype=np.float64)
    membership[pair, np.searchsorted(runs, pool.run)] = 1
    shared = np.rint(membership.T @ membership).astype(np.int64)
    alone = np.rint(membership[holders == 1].sum(axis=0)).astype(np.int64)
    return Overlap(runs, shared, alone, np.bincount(holders, minlength=len(runs) + 1))


def at_most(lengths: Ints, depth: int, blocks: int) -> int:
    """The most pairs a pool can have: `most_each` of every query together."""
    return int(most_each(lengths, depth, blocks).sum())


def most_each(lengths: Ints, depth: int, blocks: int) -> Ints:
    """The most pairs each query can have. `lengths` holds, for each run (row) and query (column), how many
    blocks the run found or could find; a query has no more pairs than the corpus has blocks.
    """
    return np.minimum(np.minimum(lengths, depth).sum(axis=0), blocks)
