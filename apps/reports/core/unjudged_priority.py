"""What to judge first: the unjudged blocks that could change the order of the systems most.

Under a measure with weights of ranks, the score that an unjudged block can add is its weight (the residuals of Moffat
and Zobel, TOIS 27, 2008). It can change the difference of two systems only as far as their weights of it differ, so the
blocks with the largest difference are judged first (Carterette, Allan and Sitaraman, SIGIR 2006). Knows no database.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from apps.metrics.columns import BLOCK_BITS, Floats, Ints, Judged, pair_keys
from apps.metrics.measures.entries import Measure
from apps.metrics.measures.measure_input import ratio

DEEPEST = 100
PERSISTENCE = 0.8
RBP_DEPTH = 20
ROUNDING = 1e-12


class Weighing(NamedTuple):
    """The weights of a measure: the value of a query is the sum of `discounts[rank] * gains[grade - 1]`.

    If `is_normalised`, it is divided by the same sum over the best order of the judged blocks. `name` is for people.
    """

    name: str
    discounts: Floats
    gains: Floats
    is_normalised: bool


def weighing(measure: Measure, top_grade: int) -> Weighing:
    """The weights of nDCG@k and P@k for k up to 100; for any other measure those of RBP with persistence 0.8.

    AP, RR and others have no weight of a rank that is independent of the other results, so RBP replaces them. Grades
    are 1 to `top_grade`.
    """
    grades = np.arange(1, max(1, top_grade) + 1)
    relevant = (grades >= measure.rel).astype(np.float64)
    if measure.cutoff is not None and measure.cutoff <= DEEPEST:
        if measure.name == "nDCG" and _weighs_grades(measure):
            gains = grades.astype(np.float64) if measure.dcg == "log2" else np.exp2(grades) - 1.0
            return Weighing(str(measure), 1 / np.log2(np.arange(2.0, measure.cutoff + 2)), gains, True)
        if measure.name == "P" and not measure.judged_only:
            return Weighing(str(measure), np.full(measure.cutoff, 1 / measure.cutoff), relevant, False)
    fading = (1 - PERSISTENCE) * PERSISTENCE ** np.arange(float(RBP_DEPTH))
    return Weighing(f"RBP(p={PERSISTENCE})", fading, relevant, False)


def _weighs_grades(measure: Measure) -> bool:
    """Whether it is one of the two common kinds of nDCG, on the full list."""
    return measure.dcg in {"log2", "exp-log2"} and not measure.gains and not measure.judged_only


class Top(NamedTuple):
    """The first results of one run, one row each; `rank` counts from 0."""

    query: Ints
    block: Ints
    rank: Ints


class RankNeighbours(NamedTuple):
    """Two runs next to each other in the order; `better` and `worse` are their indices.

    `gap` is the difference of their means, `least` a lower bound of it under any grades of the unjudged blocks. The
    order is settled when that bound is above zero.
    """

    better: int
    worse: int
    gap: float
    least: float

    @property
    def is_settled(self) -> bool:
        return self.least > ROUNDING


class PriorityPairs(NamedTuple):
    """Unjudged pairs of the tops, the largest swing first; ties by query and block.

    `swing` is the largest change that the grade of this block can make to the mean difference of two neighbours, summed
    over all neighbours whose order is not settled. Pairs that change nothing are left out.
    """

    query: Ints
    block: Ints
    swing: Floats


@dataclass(frozen=True)
class UnjudgedPriority:
    """The tops of runs and one set of judgements, under the weights of a measure."""

    judged: Judged
    tops: Sequence[Top]
    weighing: Weighing

    @cached_property
    def _size(self) -> int:
        return len(self.judged.queries)

    @cached_property
    def _depth(self) -> int:
        return len(self.weighing.discounts)

    @cached_property
    def unjudged(self) -> tuple[Ints, Ints]:
        """Query and block of every unjudged pair of the tops, ascending."""
        keys = [np.empty(0, dtype=np.int64)]
        for top in self.tops:
            near = top.rank < self._depth
            keys.append(pair_keys(top.query[near], top.block[near]))
        unjudged = np.setdiff1d(np.concatenate(keys), self.judged.lookup[0])
        return unjudged >> BLOCK_BITS, unjudged & (2**BLOCK_BITS - 1)

    @cached_property
    def _weights(self) -> Floats:
        """The discount of each unjudged pair (column) in each run (row); 0 where the run does not return it."""
        keys = pair_keys(*self.unjudged)
        table = np.zeros((len(self.tops), len(keys)))
        for row, top in enumerate(self.tops):
            near = top.rank < self._depth
            own = pair_keys(top.query[near], top.block[near])
            if len(keys):
                places = np.minimum(np.searchsorted(keys, own), len(keys) - 1)
                known = keys[places] == own
                table[row, places[known]] = self.weighing.discounts[top.rank[near][known]]
        return table

    @cached_property
    def _sums(self) -> Floats:
        """The value of each query (column) of each run (row) by the judged blocks, before normalisation."""
        keys, grades = self.judged.lookup
        table = np.zeros((len(self.tops), self._size))
        for row, top in enumerate(self.tops):
            near = top.rank < self._depth
            own = pair_keys(top.query[near], top.block[near])
            if len(keys):
                places = np.minimum(np.searchsorted(keys, own), len(keys) - 1)
                known = (keys[places] == own) & (grades[places] > 0)
                weight = self.weighing.discounts[top.rank[near][known]] * self._gain(grades[places][known])
                table[row] = np.bincount(top.query[near][known], weights=weight, minlength=self._size)
        return table

    def _gain(self, grades: Ints) -> Floats:
        gains = self.weighing.gains
        return gains[np.clip(grades, 1, len(gains)) - 1]

    @cached_property
    def _best(self) -> Floats:
        """The gains of each query (row) in the best order, down to the depth of the weights."""
        query, rank, grade = self.judged.ideal
        near = rank < self._depth
        table = np.zeros((self._size, self._depth))
        table[query[near], rank[near]] = self._gain(grade[near])
        return table

    def _divisor(self, added: float = 0.0) -> Floats:
        """The divisor of each query once another block of gain `added` is judged; 0 for a query without gains."""
        if not self.weighing.is_normalised:
            return np.ones(self._size)
        with_it = np.column_stack([self._best, np.full(self._size, added)])
        return -np.sort(-with_it, axis=1)[:, : self._depth] @ self.weighing.discounts

    @cached_property
    def means(self) -> Floats:
        """The mean of each run by the judged blocks."""
        return ratio(self._sums, self._divisor()).mean(axis=1) if self._size else np.zeros(len(self.tops))

    @cached_property
    def neighbours(self) -> list[RankNeighbours]:
        """The runs in order of their means, best first, in pairs of neighbours."""
        order = np.argsort(-np.round(self.means, 12), kind="stable").tolist()
        return [
            RankNeighbours(a, b, float(self.means[a] - self.means[b]), self._least(a, b)) for a, b in pairwise(order)
        ]

    def _least(self, better: int, worse: int) -> float:
        """A lower bound of the mean difference: every block gets the grade that is best for the worse run.

        The numerators are exact; a normalised query is divided by the divisor, within its range, that makes its
        difference smallest, and its difference is at least −1.
        """
        if not self._size:
            return 0.0
        most = self.weighing.gains.max(initial=0.0)
        against = np.maximum(0.0, self._weights[worse] - self._weights[better]) * most
        lost = np.bincount(self.unjudged[0], weights=against, minlength=self._size)
        above = self._sums[better] - self._sums[worse] - lost
        if not self.weighing.is_normalised:
            return float(above.mean())
        has_unjudged = np.bincount(self.unjudged[0], minlength=self._size) > 0
        now = self._divisor()
        highest = np.where(has_unjudged, most * self.weighing.discounts.sum(), now)
        smallest = np.where(now > 0, now, np.where(above < 0, -above, 1.0))
        least = np.where(above < 0, ratio(above, smallest), ratio(above, highest))
        return float(np.maximum(least, -1.0).mean())

    @cached_property
    def swings(self) -> Floats:
        """The swing of each unjudged pair, as `PriorityPairs` defines it."""
        query = self.unjudged[0]
        total = np.zeros(len(query))
        before, after = self._divisor(), [self._divisor(gain) for gain in self.weighing.gains.tolist()]
        for pair in self.neighbours:
            if pair.is_settled:
                continue
            apart = self._sums[pair.better] - self._sums[pair.worse]
            weight = self._weights[pair.better] - self._weights[pair.worse]
            now = ratio(apart, before)[query]
            most = np.zeros(len(query))
            for gain, divisor in zip(self.weighing.gains.tolist(), after, strict=True):
                then = ratio(apart[query] + weight * gain, divisor[query])
                most = np.maximum(most, np.abs(then - now))
            total += most / self._size
        return total

    def first(self, most: int) -> PriorityPairs:
        """At most `most` unjudged pairs, the largest swing first."""
        query, block = self.unjudged
        order = np.lexsort((block, query, -np.round(self.swings, 12)))[:most]
        order = order[self.swings[order] > ROUNDING]
        return PriorityPairs(query[order], block[order], self.swings[order])
