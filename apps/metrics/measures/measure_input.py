"""One run against one set of judgements, and what else measures read: attributes of blocks, and times."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from apps.metrics.columns import (
    NOTHING,
    BlockIds,
    Covering,
    Earnings,
    Floats,
    Ints,
    Judged,
    Ranked,
    Result,
    in_rank_order,
    pair_keys,
    place_within,
)


class Pass:
    """The judged rows of a ranking, by query and rank. A negative grade is trec_eval's mark for a block of the pool
    that was not judged: such a row is not among them.

    Of a run that is measured by text a row is a returned passage, with the best grade that it earns; what it covers
    besides counts as found with it. One that covers nothing new is a judged row of grade 0.

    Attributes: `query`, `rank` (from 0) and `grade` of each judged row; `row`, its index among the judgements; `block`,
    its block; `pooled`, how many rows of the pool are above it; `returned`, the number of results of each query;
    `abstained`, whether the system gave no answer to it: no result, or none that it stands by; `size`, the number of
    queries; `covering` and `earnings`, set by text only.
    """

    def __init__(self, judged: Judged, ranked: Result, block_ids: BlockIds) -> None:
        abstained = ranked.abstained
        self.covering: Covering | None = None
        self.earnings: Earnings | None = None
        if isinstance(ranked, Covering):
            self.covering, self.earnings = ranked, ranked.earnings(judged)
            judged, ranked = _as_ranking(judged, self.earnings)
        self.judged = judged
        self.block_ids = block_ids
        self.attributes = judged.attributes
        self.size = len(judged.queries)
        self._ordered = in_rank_order(ranked, block_ids)
        self.returned = np.bincount(self._ordered.query, minlength=self.size)
        self.abstained = (self.returned == 0) | (False if abstained is None else abstained)
        self._starts = np.cumsum(self.returned) - self.returned
        found, row = _looked_up(judged, self._ordered)
        is_judged = judged.grade[row] >= 0
        self.pooled = place_within(self._ordered.query[found], self.size)[is_judged]
        self._found, self.row = found[is_judged], row[is_judged]
        self.query = self._ordered.query[self._found]
        self.rank = self._found - self._starts[self.query]
        self.grade = judged.grade[self.row]

    @cached_property
    def block(self) -> Ints:
        """The block of each judged row."""
        return self._ordered.block[self._found]

    @cached_property
    def condensed_rank(self) -> Ints:
        """The rank of each judged row among the judged rows of its query."""
        return place_within(self.query, self.size)

    def ranks(self, judged_only: bool) -> Ints:
        """The ranks of the judged rows, in the whole ranking or in the condensed one."""
        return self.condensed_rank if judged_only else self.rank

    def lengths(self, judged_only: bool) -> Ints:
        """The number of results of each query; of judged ones only with `judged_only`."""
        return np.bincount(self.query, minlength=self.size) if judged_only else self.returned

    def rows(self, rel: int, cutoff: int | None, *, judged_only: bool = False) -> tuple[Ints, Ints]:
        """Query and rank (from 0) of the relevant rows down to the cutoff, by query and rank."""
        rank = self.ranks(judged_only)
        chosen = self.grade >= rel
        if cutoff is not None:
            chosen &= rank < cutoff
        return self.query[chosen], rank[chosen]

    def hits(self, rel: int, cutoff: int | None, *, judged_only: bool = False) -> Ints:
        """How many relevant blocks each query has down to the cutoff."""
        return np.bincount(self.rows(rel, cutoff, judged_only=judged_only)[0], minlength=self.size)

    def found(self, rel: int, cutoff: int | None, *, judged_only: bool = False) -> Ints:
        """How many relevant blocks are found for each query down to the cutoff; as `hits`, but by text, where a passage
        can cover several.
        """
        query, _ = self.rows(rel, cutoff, judged_only=judged_only)
        blocks = self.blocks_in_rows(rel, cutoff, judged_only=judged_only)
        return self.sums(query, blocks.astype(np.float64)).astype(np.int64)

    def blocks_in_rows(self, rel: int, cutoff: int | None, *, judged_only: bool = False) -> Ints:
        """How many relevant blocks are found with each of the `rows`."""
        chosen = self.grade >= rel
        if cutoff is not None:
            chosen &= self.ranks(judged_only) < cutoff
        blocks = np.ones(len(self.grade), dtype=np.int64)
        if self.earnings is not None:
            of = self.earnings.further_of[self.earnings.further_grade >= rel]
            blocks += np.bincount(of, minlength=len(self._ordered.query))[self._found]
        return blocks[chosen]

    def relevant(self, rel: int, most: int | None = None) -> Ints:
        """How many relevant blocks each query has, returned or not; counted up to `most`."""
        relevant = self.judged.relevant(rel)
        return relevant if most is None else np.minimum(relevant, most)

    def unjudged(self, cutoff: int | None) -> tuple[Ints, Ints, Ints]:
        """Query, rank (from 0) and block of the unjudged rows down to the cutoff, by query and rank."""
        query = self._ordered.query
        rank = np.arange(len(query)) - self._starts[query]
        chosen = np.ones(len(query), dtype=bool) if cutoff is None else rank < cutoff
        chosen[self._found] = False
        return query[chosen], rank[chosen], self._ordered.block[chosen]

    def top(self, cutoff: int) -> tuple[Ints, Ints]:
        """Query and block of every row down to the cutoff, judged or not, by query and rank."""
        query = self._ordered.query
        chosen = np.arange(len(query)) - self._starts[query] < cutoff
        return query[chosen], self._ordered.block[chosen]

    def sums(self, query: Ints, weights: Floats) -> Floats:
        return np.bincount(query, weights=weights, minlength=self.size).astype(np.float64, copy=False)

    def with_grade(self, query: Ints, block: Ints, grade: int) -> Pass:
        """The same ranking where these unjudged blocks were judged too, all with one grade."""
        judged, rest = self.judged, self.judged.grade >= 0
        grades = np.full(len(query), grade)
        columns = ((judged.query, query), (judged.block, block), (judged.grade, grades))
        all_queries, all_blocks, all_grades = (np.concatenate((column[rest], more)) for column, more in columns)
        rows = Judged(judged.queries, all_queries, all_blocks, all_grades, attributes=judged.attributes)
        return Pass(rows, self._ordered, self.block_ids)


FIRST_MADE_UP = 1 << 31
"""From here on numbers stand for returned passages, not for blocks."""


def _as_ranking(judged: Judged, earned: Earnings) -> tuple[Judged, Ranked]:
    """Returned passages as a ranking of one block each, and the judgements with those that cover nothing new."""
    number = FIRST_MADE_UP + np.arange(len(earned.query))
    block = np.where(earned.block >= 0, earned.block, number)
    empty = earned.grade == NOTHING
    columns = ((judged.query, earned.query[empty]), (judged.block, number[empty]))
    query, blocks = (np.concatenate(pair) for pair in columns)
    grade = np.concatenate((judged.grade, np.zeros(int(empty.sum()), dtype=np.int64)))
    more = {"originals": judged.originals, "unanswerable": judged.unanswerable}
    rows = Judged(judged.queries, query, blocks, grade, **more)  # type: ignore[arg-type]
    return rows, Ranked(earned.query, block, -earned.rank.astype(np.float64))


def _looked_up(judged: Judged, ranked: Ranked) -> tuple[Ints, Ints]:
    """Indices of the judged rows of the ranking, and the rows of their judgements."""
    if judged.ids is not None:
        known = np.flatnonzero(ranked.block < len(judged.ids))
        return known, ranked.block[known]
    keys, rows = judged.pairs
    if not len(keys):
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    wanted = pair_keys(ranked.query, ranked.block)
    places = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    known = np.flatnonzero(keys[places] == wanted)
    return known, rows[places[known]]


def ratio(above: Floats | Ints, below: Floats | Ints | int) -> Floats:
    """Element-wise quotient, 0 where the divisor is 0."""
    above, below = np.broadcast_arrays(np.asarray(above, dtype=np.float64), below)
    return np.divide(above, below, out=np.zeros(above.shape), where=below != 0)
