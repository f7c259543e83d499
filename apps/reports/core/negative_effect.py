"""What hard negatives do to scores: the same ranking scored without them, and with them.

A hard negative is a passage that a baseline ranks among its first `depth` and that people judged 0 or less. Taking it
out of a ranking moves every result below it one place up, as in a corpus that does not have it. So a score without the
hard negatives is the score before they were added, and the score with them is the ordinary one. Rankings are whole: no
candidates are sampled, since scores over sampled candidates can order systems otherwise than exact scores do (Krichene
and Rendle, KDD 2020). Knows no database.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from apps.metrics.columns import Floats, Ints, Judged, Ranked, pair_keys
from apps.metrics.estimate import PERCENTILE, Estimate
from apps.metrics.measures.entries import Measure
from apps.metrics.statistics.significance import NO_INTERVAL, Difference, Summary, differences, summaries
from apps.reports.core.negatives import Alike
from apps.reports.core.unjudged_priority import Top

MEASURES = "RR P@1 nDCG@10"
"""Measures in which a passage that is not relevant has no part but its place: taking one out never lowers them."""

Bools = NDArray[np.bool_]


class HardNegatives(NamedTuple):
    """The hard negatives of the judged queries as pair keys, sorted; and the numbers that tell how they were found.

    Of `queries` graded ones, `with_hard` have any. `low` pairs were judged 0 or less, at whatever rank. Of those that
    the baseline ranks high, `alike` are near-duplicates of a relevant passage, and so no hard negatives. `unjudged`
    results stand as high, and nobody judged them: they may be relevant, so they are none either.
    """

    keys: Ints
    queries: int
    with_hard: int
    low: int
    alike: int
    unjudged: int


def find_hard(judged: Judged, top: Top, alike: Alike) -> HardNegatives:
    """`top` has the first results of the baseline, as deep as counts as high; `alike` as `negatives.alike_by` gives."""
    keys = pair_keys(top.query, top.block)
    known, grades = judged.lookup
    at = np.minimum(np.searchsorted(known, keys), len(known) - 1)
    is_judged = known[at] == keys
    is_low = is_judged & (grades[at] <= 0)
    passed = _like_relevant(judged, top, is_low, alike)
    hard = is_low & ~passed
    return HardNegatives(
        keys=np.sort(keys[hard]),
        queries=len(judged.queries),
        with_hard=len(np.unique(top.query[hard])),
        low=int((judged.grade <= 0).sum()),
        alike=int(passed.sum()),
        unjudged=int((~is_judged).sum()),
    )


def _like_relevant(judged: Judged, top: Top, is_low: Bools, alike: Alike) -> Bools:
    """Which of the low results are near-duplicates of a passage that is relevant to the same query."""
    passed = np.zeros(len(is_low), dtype=bool)
    relevant = _by_query(judged.query, np.flatnonzero(judged.grade > 0))
    for query, rows in _by_query(top.query, np.flatnonzero(is_low)).items():
        if query in relevant:
            passed[rows] = alike(top.block[rows], judged.block[relevant[query]])
    return passed


def _by_query(query: Ints, rows: Ints) -> dict[int, Ints]:
    """Those rows of a column of queries, by query."""
    ordered = rows[np.argsort(query[rows], kind="stable")]
    found, starts = np.unique(query[ordered], return_index=True)
    return dict(zip(found.tolist(), np.split(ordered, starts[1:]), strict=True)) if len(found) else {}


def without_pairs(ranked: Ranked, keys: Ints) -> Ranked:
    """The ranking without these pairs; the others keep their order."""
    kept = ~np.isin(pair_keys(ranked.query, ranked.block), keys)
    return Ranked(ranked.query[kept], ranked.block[kept], ranked.score[kept])


class NegativeEffect(NamedTuple):
    """One measure of one run: its mean before the hard negatives were added, after, and the change, paired by query.

    `worse` queries fall. There is no p: a change cannot be above zero, so no change by chance is no hypothesis.
    """

    measure: str
    before: Estimate
    after: Estimate
    change: Estimate
    worse: int

    @property
    def as_json(self) -> dict[str, Any]:
        figures = {name: getattr(self, name).as_json for name in FIGURES}
        return {"measure": self.measure, **figures, "worse": self.worse}

    @classmethod
    def read(cls, facts: Mapping[str, Any]) -> Self:
        figures = {name: Estimate.read(facts[name]) for name in FIGURES}
        return cls(measure=facts["measure"], **figures, worse=facts["worse"])


FIGURES = ("before", "after", "change")


def effects_of(measures: Sequence[Measure], before: Floats, after: Floats) -> list[NegativeEffect]:
    """From values of the shape (queries, measures) of the measures in `MEASURES`: each has a value for every query."""
    rows = zip(measures, summaries(before), summaries(after), differences(before, after), strict=True)
    return [_effect(str(measure), means, moved, change) for measure, means, moved, change in rows]


def _effect(measure: str, before: Summary, after: Summary, change: Difference) -> NegativeEffect:
    moved = Estimate.of(change.mean, change.interval, change.n, PERCENTILE, "" if change.interval else NO_INTERVAL)
    return NegativeEffect(measure, before.estimate(), after.estimate(), moved, change.worse)
