"""Scores a run: values per query, and means with intervals."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from apps.metrics.columns import BLOCKS, TIMES, BlockIds, Covering, Floats, Ints, Judged, Result
from apps.metrics.measures.bounds import measure_bounds
from apps.metrics.measures.entries import AUDIENCE, GRADES, TIME, UNANSWERABLE, Measure
from apps.metrics.measures.measure_input import Pass
from apps.metrics.measures.registry import measure_run, parse_measure
from apps.metrics.measures.sets import interpolated_precision
from apps.metrics.statistics.significance import DEFAULT_CONFIDENCE, Summary, mean_of, summaries

JUDGED_AT_10 = Measure("Judged", 10)
WHOLE = 10**9
"""A cutoff beyond any ranking."""


class IfJudged(NamedTuple):
    """What the unjudged results that a measure reads leave open.

    `judged` is the share of judged ones among those it reads, over the queries with results. `low` and `high` are what
    the mean could be if all were judged; None where nothing is open, and for measures without bounds.
    """

    judged: float | None
    low: float | None = None
    high: float | None = None

    @property
    def range(self) -> tuple[float, float] | None:
        return None if self.low is None or self.high is None else (self.low, self.high)


def if_judged(
    measures: Sequence[Measure],
    judged: Judged,
    ranked: Result,
    block_ids: BlockIds,
    *,
    highest: int = 1,
) -> list[IfJudged]:
    """For each measure what the unjudged results of a run leave open; as `measure_bounds` does, by means.

    By text it is the share of judged ones alone: how many unjudged blocks a passage covers is no bound.
    """
    shares = measure_run([Measure("Judged", one.cutoff or WHOLE) for one in measures], judged, ranked, block_ids)
    if isinstance(ranked, Covering):
        return [IfJudged(mean_of(share[~np.isnan(share)])) for share in shares.T]
    bounds = measure_bounds(measures, judged, ranked, block_ids, highest=highest)
    found = []
    low_ends, high_ends = (ends[judged.answerable] for ends in bounds)
    for share, low, high in zip(shares.T, low_ends.T, high_ends.T, strict=True):
        is_open = bool((low < high).any())
        ends = (mean_of(low), mean_of(high)) if is_open else (None, None)
        found.append(IfJudged(mean_of(share[~np.isnan(share)]), *ends))
    return found


class UnknownValues(NamedTuple):
    """How many of the blocks that a measure reads have no value of its attribute, and are left out; without an audience
    they are for everybody. Of a measure by grades these are relevant blocks, and else results.
    """

    measure: str
    attribute: str
    unknown: int
    of: int

    @property
    def words(self) -> str:
        """`ILD(by='type')@10: 3 of 480 results have no type and are left out.`"""
        blocks = "relevant passages" if GRADES in parse_measure(self.measure).entry.needs else "results"
        have, are = ("has", "is") if self.unknown == 1 else ("have", "are")
        then = "open to everybody" if self.attribute == AUDIENCE else "left out"
        which = f"{self.unknown:,} of {self.of:,} {blocks} {have} no {self.attribute}"
        return f"{self.measure}: {which} and {are} {then}."


def unknown_values(
    measures: Iterable[Measure], judged: Judged, ranked: Result, block_ids: BlockIds
) -> list[UnknownValues]:
    """The measures of attributes that some block has no value of, by how many."""
    of_blocks = [measure for measure in measures if measure.entry.needs & {BLOCKS, TIMES}]
    blocks = judged.attributes.blocks
    if not of_blocks or blocks is None:
        return []
    run, found = Pass(judged, ranked, block_ids), []
    for measure in of_blocks:
        block = judged.block[judged.grade > 0] if GRADES in measure.entry.needs else run.top(measure.cutoff or 0)[1]
        if measure.reads == TIME:
            is_unknown = np.isnan(blocks.times_of(block))
        else:
            is_unknown = blocks.by_name[measure.reads].of(block) < 0
        found.append(UnknownValues(str(measure), measure.reads, int(is_unknown.sum()), len(is_unknown)))
    return [one for one in found if one.unknown]


def precision_at_recall(judged: Judged, ranked: Result, block_ids: BlockIds, rel: int = 1) -> list[float]:
    """The precision–recall curve of a run: mean precision at each of RECALL_LEVELS; empty without queries."""
    values = interpolated_precision(Pass(judged, ranked, block_ids), rel)[judged.answerable]
    return [mean for column in values.T if (mean := mean_of(column)) is not None]


class RetrievedCounts(NamedTuple):
    """trec_eval's num_ret, num_rel and num_rel_ret, over the judged queries: sums, not means."""

    returned: int
    relevant: int
    relevant_returned: int


class RunScores(NamedTuple):
    """`values` has a row for each judged query and a column for each measure.

    `judged_at_10` is the share of judged blocks in the first ten, over the queries with results; None without any.
    `answered` counts the judged queries with results; `judged` is the share of each query, NaN without results.
    `if_judged` has what the unjudged results leave open, by measure; empty where that was not asked for. `counts` is
    None for scores that were stored without.
    """

    values: Floats
    summaries: list[Summary]
    judged_at_10: float | None
    answered: int
    missing: int
    judged: Floats | None = None
    if_judged: Sequence[IfJudged] = ()
    counts: RetrievedCounts | None = None

    def columns(self, names: Iterable[str]) -> dict[str, Floats]:
        """The values by measure, with judged@10 where it is known; `names` are in the order of the columns."""
        columns = {} if self.judged is None else {str(JUDGED_AT_10): self.judged}
        return columns | {name: self.values[:, place] for place, name in enumerate(names)}


def score_run(
    measures: Sequence[Measure],
    judged: Judged,
    ranked: Result,
    block_ids: BlockIds,
    *,
    confidence: float = DEFAULT_CONFIDENCE,
    with_intervals: bool = True,
    strata: Ints | None = None,
    with_bounds: bool = False,
    rel: int = 1,
) -> RunScores:
    """Every measure of one run with its interval. An empty run is scored too.

    `strata` are as in `summaries`. `with_bounds` adds what unjudged results leave open; `rel` is the lowest relevant
    grade of the counts. Raises MeasureError for a measure whose input is missing.
    """
    further = [JUDGED_AT_10, Measure("SetR", rel=rel)]
    values = measure_run([*measures, *further], judged, ranked, block_ids)
    scores, share, found = values[:, :-2], values[:, -2], values[:, -1]
    relevant = judged.relevant(rel)
    defined = share[~np.isnan(share)]
    found = np.where(np.isnan(found), 0.0, found)  # of a query that nothing answers
    return RunScores(
        values=scores,
        summaries=summaries(
            measures,
            scores,
            confidence=confidence,
            with_interval=with_intervals,
            strata=strata,
            originals=judged.originals,
        ),
        judged_at_10=mean_of(defined),
        answered=len(defined),
        missing=len(judged.queries) - len(defined),
        judged=share,
        if_judged=if_judged(measures, judged, ranked, block_ids) if with_bounds else (),
        counts=RetrievedCounts(_returned(ranked), int(relevant.sum()), round(float(found @ relevant))),
    )


def _returned(ranked: Result) -> int:
    return int(ranked.returned.sum()) if isinstance(ranked, Covering) else len(ranked.query)


def queries_with_relevant(judged: Judged, rel: int = 1) -> int:
    """How many judged queries have a relevant block."""
    return int(np.count_nonzero(judged.relevant(rel)))


def conventions(measures: Sequence[Measure], *, with_ties: bool = True) -> str:
    """The sentences below every table of these measures; by text there are no ties."""
    missing = "Judged queries missing from a run count as zero"
    turned = dict.fromkeys(measure.name for measure in measures if _is_one_without_results(measure))
    if turned:
        missing += f", in {' and '.join(turned)} as one"
    readings = [*_gains(measures), *_ages(measures), *_levels(measures), *_unjudged(measures)]
    reading = ", ".join(readings)
    ties = "Equal scores rank by id, descending. " if with_ties else ""
    return f"{ties}{missing}. {reading[0].upper()}{reading[1:]}." if reading else f"{ties}{missing}."


def _is_one_without_results(measure: Measure) -> bool:
    """Whether a query that is missing from a run has the highest value: it fails, or rightly abstains. Of its results a
    measure without grades says nothing then.
    """
    needs = measure.entry.needs
    return GRADES in needs and measure.entry.is_lower_better != (UNANSWERABLE in needs)


def _gains(measures: Sequence[Measure]) -> list[str]:
    words = {"log2": "linear", "exp-log2": "exponential", "jk": "linear with the discount of 2002"}
    forms = {measure.dcg for measure in measures if "dcg" in measure.entry.takes}
    gains = [words[form] for form in words if form in forms]
    return [f"gain {' or '.join(gains)}"] if gains else []


def _ages(measures: Sequence[Measure]) -> list[str]:
    return ["age counts to the day of the query"] if any(TIMES in one.entry.needs for one in measures) else []


def _levels(measures: Sequence[Measure]) -> list[str]:
    levels = sorted({measure.rel for measure in measures if "rel" in measure.entry.takes})
    return [f"relevant from grade {' or '.join(map(str, levels))}"] if levels else []


def _unjudged(measures: Sequence[Measure]) -> list[str]:
    condensed = {measure.judged_only for measure in measures if "judged_only" in measure.entry.takes}
    if condensed == {True}:
        return ["unjudged blocks are left out"]
    left_out = ", and is left out where judged_only is named" if True in condensed else ""
    return [f"unjudged counts as not relevant{left_out}"]
