"""How low and how high a score could be if the unjudged results were judged.

Each unjudged result that the measure reads may be of any grade from 0 to the highest; nothing else changes. A relevant
block that the run does not return, and that nobody judged, is outside these bounds: the run alone cannot know of it.
They are exact, but for Q, whose bounds are valid and may be wider than needed.

By most measures a better grade never lowers the value: their bounds are the values with all of these results not
relevant and with all of them at the highest grade. AP, Rprec, nDCG, Bpref and Q also divide by what is relevant in all.
With a given number of relevant ones among the unjudged results, those are highest when the relevant ones are the first
of them, and lowest when they are the last, as moving a relevant result up never lowers the value. So there are as many
cases to compare as unjudged results, not two to that power.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from apps.metrics.columns import BlockIds, Floats, Ints, Judged, Ranked
from apps.metrics.measures.entries import Measure
from apps.metrics.measures.graded import FORMS, gains_of
from apps.metrics.measures.measure_input import Pass, ratio

Bools = NDArray[np.bool_]

CELLS = 1 << 20
"""About how many results are in one table."""
MOST_STEPS = 100


class Bounds(NamedTuple):
    """The lowest and the highest value of each query (row) by each measure (column); NaN where there are no bounds."""

    low: Floats
    high: Floats


class RankTable(NamedTuple):
    """Rankings down to a cutoff, a row for each query in `queries` and a column for each rank.

    `hit` marks the relevant results, `other` those judged otherwise; `grade` is 0 where nothing is judged.
    """

    queries: Ints
    unjudged: Bools
    hit: Bools
    other: Bools
    grade: Ints

    @property
    def ranks(self) -> Ints:
        return np.arange(self.unjudged.shape[1])


class BoundsInput(NamedTuple):
    """What the bounds of a measure are computed from; `highest` is the highest grade of an unjudged result."""

    run: Pass
    measure: Measure
    highest: int


Ends = tuple[Floats, Floats]


def measure_bounds(
    measures: Sequence[Measure],
    judged: Judged,
    ranked: Ranked,
    block_ids: BlockIds,
    *,
    highest: int = 1,
) -> Bounds:
    """The bounds of every measure for every judged query; `highest` is the highest grade of the scale.

    A higher grade in the judgements replaces it; ERR and gRBP use the scale that they name. A condensed list
    (`judged_only`) has the bounds of the whole one: once all results are judged, none is left out. RBP and gRBP add
    the residual of Moffat and Zobel (TOIS 27, 2008) to the upper bound: p to the number of results read, as all that is
    ranked below could be relevant.
    """
    run = Pass(judged, ranked, block_ids)
    highest = max(highest, int(judged.grade.max(initial=1)))

    @cache
    def judged_as(grade: int, cutoff: int | None) -> Pass:
        query, _, block = run.unjudged(cutoff)
        return run.with_grade(query, block, grade)

    low, high = np.full((2, run.size, len(measures)), np.nan)
    for column, measure in enumerate(measures):
        if measure.name not in _RISING and measure.name not in _CASES:
            continue
        low[:, column] = high[:, column] = measure.entry.values(judged_as(0, measure.cutoff), measure)
        if measure.name in _RISING:
            best = measure.max_rel if "max_rel" in measure.entry.takes else max(highest, measure.rel)
            value = measure.entry.values(judged_as(best, measure.cutoff), measure)
            ends = [(np.arange(run.size), value, value)]
        else:
            given = BoundsInput(run, measure, highest)
            ends = [(table.queries, *_CASES[measure.name](table, given)) for table in _tables(run, measure)]
        for rows, least, most in ends:
            low[rows, column] = np.minimum(low[rows, column], least)
            high[rows, column] = np.maximum(high[rows, column], most)
        if measure.name in _ENDLESS:
            read = run.returned if measure.cutoff is None else np.minimum(run.returned, measure.cutoff)
            high[:, column] += measure.p ** read.astype(np.float64)
    return Bounds(low, high)


def _tables(run: Pass, measure: Measure) -> Iterator[RankTable]:
    """The rankings that have unjudged results down to the cutoff, some at a time."""
    query, rank, _ = run.unjudged(measure.cutoff)
    queries = np.unique(query)
    depths = run.returned[queries] if measure.cutoff is None else np.minimum(run.returned[queries], measure.cutoff)
    start = 0
    while start < len(queries):
        widest = np.maximum.accumulate(depths[start:]) * np.arange(1, len(queries) - start + 1)
        end = start + max(1, int(np.searchsorted(widest, CELLS, side="right")))
        some, depth = queries[start:end], int(depths[start:end].max())
        row = np.full(run.size, -1)
        row[some] = np.arange(len(some))
        unjudged, is_judged = np.zeros((2, len(some), depth), dtype=bool)
        grade = np.zeros((len(some), depth), dtype=np.int64)
        inside = row[query] >= 0
        unjudged[row[query[inside]], rank[inside]] = True
        inside = (row[run.query] >= 0) & (run.rank < depth)
        places = row[run.query[inside]], run.rank[inside]
        is_judged[places], grade[places] = True, run.grade[inside]
        hit = is_judged & (grade >= measure.rel)
        yield RankTable(some, unjudged, hit, is_judged & ~hit, grade)
        start = end


def _to(values: Floats | Ints | Bools) -> NDArray[np.float64]:
    """The sums of each row to a column, with it."""
    return np.cumsum(values, axis=1, dtype=np.float64)


def _from(values: Floats | Ints | Bools) -> NDArray[np.float64]:
    """The sums of each row from a column on, with it."""
    return _to(values[:, ::-1])[:, ::-1]


def _relevant(table: RankTable, given: BoundsInput) -> Floats:
    """How many judged blocks are relevant for each query, returned or not: a column."""
    return given.run.relevant(given.measure.rel)[table.queries, None].astype(np.float64)


def _at_most_read(relevant: Floats, measure: Measure) -> Floats:
    return relevant if measure.cutoff is None else np.minimum(relevant, measure.cutoff)


def _average_precision(table: RankTable, given: BoundsInput) -> Ends:
    """The sum of precisions grows with each further relevant result: by its own, and by a share of each below it."""
    at = 1.0 / (table.ranks + 1.0)
    own = _to(table.hit)
    base = (table.hit * own * at).sum(axis=1, keepdims=True)

    def value(more: Floats, number: Floats) -> Floats:
        relevant = _relevant(table, given) + number
        return ratio(base + more, _at_most_read(relevant, given.measure) if given.measure.capped else relevant)

    below_own, either = _from(table.hit * at) - table.hit * at, (table.hit | table.unjudged) * at
    first = _to(table.unjudged * ((own + _to(table.unjudged)) * at + below_own))
    last = _from(table.unjudged * ((own + 1.0) * at + _from(either) - either))
    return (
        value(last, _from(table.unjudged)).min(axis=1),
        value(first, _to(table.unjudged)).max(axis=1),
    )


def _r_precision(table: RankTable, given: BoundsInput) -> Ends:
    """Of the relevant ones as many as can be are among the first R, or as few."""
    number = _to(table.unjudged)
    relevant = _relevant(table, given) + number
    within = np.minimum(relevant, table.unjudged.shape[1]).astype(np.int64) - 1
    hits = np.where(within < 0, 0.0, np.take_along_axis(_to(table.hit), np.maximum(within, 0), axis=1))
    spots = np.where(within < 0, 0.0, np.take_along_axis(number, np.maximum(within, 0), axis=1))
    fewest = np.maximum(number - (number[:, -1:] - spots), 0.0)
    return ratio(hits + fewest, relevant).min(axis=1), ratio(hits + np.minimum(number, spots), relevant).max(axis=1)


def _ndcg(table: RankTable, given: BoundsInput) -> Ends:
    """The sum of gains over the ideal one, for grades as far apart as 0 and the highest, and for the best grades.

    The quotient of a linear function and a convex one has its minimum where every unjudged result has either no gain
    or the highest. For the maximum both sums are split into layers, one for each step between gains: in each, a block
    counts or does not. For a value t, the results of a layer that make sum − t · ideal sum largest are its first ones,
    and they lie within those of the layer below, as fewer judged blocks reach the higher one. So each layer is solved
    alone, and t is raised to the value reached until nothing raises it (Dinkelbach, Management Science 13, 1967).
    """
    run, measure = given.run, given.measure
    judged, discount = run.judged, FORMS[measure.dcg].discount
    gain = gains_of(measure, judged.grade)
    named = (int(grade) for grade, _ in measure.gains)
    scale = np.array([grade for grade in {given.highest, *named} if 0 < grade <= given.highest])
    levels = np.unique(np.concatenate((gain, gains_of(measure, scale))))
    levels = levels[levels > 0]
    steps = np.diff(levels, prepend=0.0)
    known = _reaching(judged, gain, levels, table.queries)
    deepest = int(known.max(initial=0)) + table.unjudged.shape[1]
    ranks = np.arange(deepest if measure.cutoff is None else min(deepest, measure.cutoff))
    ideal = np.concatenate(([0.0], np.cumsum(discount(ranks))))

    def ideal_sum(level: int, number: Ints) -> Floats:
        return ideal[np.minimum(known[level] + number, len(ideal) - 1)]

    weight = discount(table.ranks)
    own = np.where(table.hit | table.other, gains_of(measure, table.grade.ravel()).reshape(table.grade.shape), 0.0)
    base = (own * weight).sum(axis=1)
    last = _from(table.unjudged).astype(np.int64)
    sums = base[:, None] + levels.max(initial=0.0) * _from(table.unjudged * weight)
    ideals = sum((step * ideal_sum(level, last) for level, step in enumerate(steps)), np.zeros(sums.shape))
    least = ratio(sums, ideals).min(axis=1)

    added = np.pad(_to(table.unjudged * weight), ((0, 0), (1, 0)))
    number = np.pad(_to(table.unjudged), ((0, 0), (1, 0))).astype(np.int64)
    rows = np.arange(len(base))
    chosen = np.full((len(levels), len(base)), number.shape[1] - 1)
    value = np.zeros(len(base))
    for _ in range(MOST_STEPS):
        above, below = base.copy(), np.zeros(len(base))
        for level, step in enumerate(steps):
            above += step * added[rows, chosen[level]]
            below += step * ideal_sum(level, number)[rows, chosen[level]]
        reached = np.maximum(value, ratio(above, below))
        if (reached <= value).all():
            break
        value = reached
        for level in range(len(levels)):
            chosen[level] = (added - value[:, None] * ideal_sum(level, number)).argmax(axis=1)
    return least, value


def _reaching(judged: Judged, gain: Floats | Ints, levels: Floats | Ints, queries: Ints) -> Ints:
    """How many judged blocks gain at least each level: shape (levels, queries, 1)."""
    counts = [np.bincount(judged.query[gain >= one], minlength=len(judged.queries)) for one in levels]
    return np.array(counts, dtype=np.int64).reshape(len(levels), len(judged.queries))[:, queries, None]


def _bpref(table: RankTable, given: BoundsInput) -> Ends:
    """What the relevant results lose to others above them, which changes at the first relevant one of the unjudged, or
    at the last: below it these count as others, above it they do not, or the other way round.
    """
    others = given.run.judged.relevant(0)[table.queries, None] - _relevant(table, given)
    found, spots = table.hit.sum(axis=1, keepdims=True), table.unjudged.sum(axis=1, keepdims=True)
    either = table.hit | table.unjudged
    judged_above = _to(table.other) - table.other
    all_above = judged_above + _to(table.unjudged) - table.unjudged
    cut, end = np.broadcast_to(table.ranks, either.shape), np.full(either.shape, either.shape[1])

    def value(number: Floats, above: Floats) -> Floats:
        relevant = _relevant(table, given) + number
        lost = ratio(above, np.minimum(relevant, others + spots - number))
        return ratio(found + number - lost, relevant)

    number = _to(table.unjudged)
    limit = _relevant(table, given) + number
    above = _capped_sums(either, judged_above, limit, 0 * cut, cut + 1)
    above += _capped_sums(table.hit, all_above, limit + number, cut + 1, end)
    above -= number * (found - _to(table.hit))
    most = value(number, above).max(axis=1)

    number = _from(table.unjudged)
    limit, rest = _relevant(table, given) + number, spots - number
    above = _capped_sums(table.hit, all_above, limit, 0 * cut, cut)
    above += _capped_sums(either, judged_above, limit - rest, cut, end) + rest * _from(either)
    return value(number, above).min(axis=1), most


def _capped_sums(chosen: Bools, values: Floats, limit: Floats, start: Ints, end: Ints) -> Floats:
    """For each cell, the sum over the chosen columns of its row from `start` to before `end` of the smaller of value
    and limit. The values of a row are counts that never fall.
    """
    rows, width = values.shape
    first = np.arange(rows)[:, None] * (width + 1)
    places = np.searchsorted((values + first).ravel(), (np.clip(limit, 0, width) + first).ravel())
    reached = np.clip(places.reshape(limit.shape) - np.arange(rows)[:, None] * width, start, end)
    sums, counts = (np.pad(_to(one), ((0, 0), (1, 0))) for one in (chosen * values, chosen))

    def at(table: Floats, column: Ints) -> Floats:
        return np.take_along_axis(table, column, axis=1)

    whole: Floats = at(sums, reached) - at(sums, start) + limit * (at(counts, end) - at(counts, reached))
    return whole


def _q_measure(table: RankTable, given: BoundsInput) -> Ends:
    """Each blended ratio with the least and the most that its parts can be, whatever the parts of others are."""
    judged, beta = given.run.judged, given.measure.beta
    levels = np.unique(judged.grade[judged.grade > 0])
    steps = np.diff(levels, prepend=0)[:, None, None]
    known = _reaching(judged, judged.grade, levels, table.queries)
    rank, spots = table.ranks + 1, table.unjudged.sum(axis=1, keepdims=True)
    ideal = (steps * np.minimum(known, rank)).sum(axis=0)
    highest_ideal = ideal + given.highest * spots
    relevant, number = _relevant(table, given), _to(table.unjudged)
    least = (_to(table.hit) + beta * _to(table.grade)) / (rank + beta * highest_ideal)
    most = (_to(table.hit) + number + beta * (_to(table.grade) + given.highest * number)) / (rank + beta * ideal)
    most = np.minimum(most, 1.0)
    low = ratio((table.hit * least).sum(axis=1, keepdims=True), _at_most_read(relevant + spots, given.measure))
    best = _to(np.sort(table.unjudged * most, axis=1)[:, ::-1])
    most_relevant = _at_most_read(relevant + np.minimum(rank, spots), given.measure)
    high = ratio((table.hit * most).sum(axis=1, keepdims=True) + best, most_relevant)
    return low[:, 0], high.max(axis=1)


_RISING = frozenset({"P", "Recall", "Success", "FailureRate", "F1", "RR", "SetP", "SetR", "SetF", "ERR", "RBP", "gRBP"})
_ENDLESS = frozenset({"RBP", "gRBP"})
_CASES: dict[str, Callable[[RankTable, BoundsInput], Ends]] = {
    "AP": _average_precision,
    "Rprec": _r_precision,
    "nDCG": _ndcg,
    "Bpref": _bpref,
    "Q": _q_measure,
}
