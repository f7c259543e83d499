"""Judge these first: the unjudged blocks that could change the order of the systems most.

For a measure that weighs ranks, a block can only move the difference of two systems as far as they weigh it
differently: what an unjudged block leaves open is its weight (Moffat and Zobel, TOIS 27, 2008, residuals), and the one
worth judging is where the weights differ most (Carterette, Allan and Sitaraman, SIGIR 2006). Knows no database.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from apps.metrics.columns import BLOCK_BITS, Floats, Ints, Judged, pair_keys
from apps.metrics.measures import Measure
from apps.metrics.measures.passes import ratio

DEEPEST = 100
PERSISTENCE = 0.8
RBP_DEPTH = 20
ROUNDING = 1e-12


class Weighing(NamedTuple):
    """How a measure values grades at ranks: a query's value is the sum of `discounts[rank] * gains[grade - 1]`.

    Where `is_normalised`, divided by the same sum over the best order of its judged blocks. `name` is for people.
    """

    name: str
    discounts: Floats
    gains: Floats
    is_normalised: bool


def weighing(measure: Measure, top_grade: int) -> Weighing:
    """The weighing of nDCG@k and P@k down to k = 100; for any other measure RBP with persistence 0.8.

    RBP stands in because AP, RR and the like have no weight of a rank that holds whatever else was found. Grades
    go from 1 to `top_grade`.
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
    """Whether the nDCG is one of the two common ones, over all ranks."""
    return measure.dcg in {"log2", "exp-log2"} and not measure.gains and not measure.judged_only


class Top(NamedTuple):
    """The first results of one run, one row each; `rank` counts from 0."""

    query: Ints
    block: Ints
    rank: Ints


class RankNeighbours(NamedTuple):
    """Two runs next to each other in the order by the weighing; `better` and `worse` are their places as given.

    `gap` is the difference of their means, `least` a bound below which no grades of the unjudged blocks can press
    it. The order is settled when that bound is above zero.
    """

    better: int
    worse: int
    gap: float
    least: float

    @property
    def is_settled(self) -> bool:
        return self.least > ROUNDING


class Open(NamedTuple):
    """Unjudged blocks of the tops, those first that could move differences most; ties by query and block.

    `swing` is the most that the grade of that one block can move the mean difference of neighbours whose order is
    not settled, added up over those neighbours. Blocks that can move none are left out.
    """

    query: Ints
    block: Ints
    swing: Floats


@dataclass(frozen=True)
class UnjudgedPriority:
    """Runs, by their tops, against one set of judgements."""

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
        found = np.setdiff1d(np.concatenate(keys), self.judged.lookup[0])
        return found >> BLOCK_BITS, found & (2**BLOCK_BITS - 1)

    @cached_property
    def _weights(self) -> Floats:
        """The discount that each run (row) gives each unjudged pair (column); 0 where it does not return it."""
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
        """What each run (row) has of each query (column) so far, before it is normalised."""
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
        """The gains of each query (row) in their best order, as deep as the weighing looks."""
        query, rank, grade = self.judged.ideal
        near = rank < self._depth
        table = np.zeros((self._size, self._depth))
        table[query[near], rank[near]] = self._gain(grade[near])
        return table

    def _divisor(self, added: float = 0.0) -> Floats:
        """What each query's sums are divided by once a block of gain `added` is judged too; 0 when it has no gain."""
        if not self.weighing.is_normalised:
            return np.ones(self._size)
        with_it = np.column_stack([self._best, np.full(self._size, added)])
        return -np.sort(-with_it, axis=1)[:, : self._depth] @ self.weighing.discounts

    @cached_property
    def means(self) -> Floats:
        """The mean of each run so far."""
        return ratio(self._sums, self._divisor()).mean(axis=1) if self._size else np.zeros(len(self.tops))

    @cached_property
    def neighbours(self) -> list[RankNeighbours]:
        order = np.argsort(-np.round(self.means, 12), kind="stable").tolist()
        return [
            RankNeighbours(a, b, float(self.means[a] - self.means[b]), self._least(a, b)) for a, b in pairwise(order)
        ]

    def _least(self, better: int, worse: int) -> float:
        """A bound on the mean difference from below: every block gets the grade that suits the worse run best.

        The numerators are exact; a normalised query is divided by the divisor, within its range, that makes its
        difference least, and never falls below −1.
        """
        if not self._size:
            return 0.0
        most = self.weighing.gains.max(initial=0.0)
        against = np.maximum(0.0, self._weights[worse] - self._weights[better]) * most
        lost = np.bincount(self.unjudged[0], weights=against, minlength=self._size)
        above = self._sums[better] - self._sums[worse] - lost
        if not self.weighing.is_normalised:
            return float(above.mean())
        touched = np.bincount(self.unjudged[0], minlength=self._size) > 0
        now = self._divisor()
        highest = np.where(touched, most * self.weighing.discounts.sum(), now)
        smallest = np.where(now > 0, now, np.where(above < 0, -above, 1.0))
        least = np.where(above < 0, ratio(above, smallest), ratio(above, highest))
        return float(np.maximum(least, -1.0).mean())

    @cached_property
    def swings(self) -> Floats:
        """For each unjudged pair the swing, as `Open` says."""
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

    def first(self, most: int) -> Open:
        """At most so many unjudged pairs, those with the widest swing first."""
        query, block = self.unjudged
        order = np.lexsort((block, query, -np.round(self.swings, 12)))[:most]
        order = order[self.swings[order] > ROUNDING]
        return Open(query[order], block[order], self.swings[order])
