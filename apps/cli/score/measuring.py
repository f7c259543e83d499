"""Runs measured on triples by a hit rule, as a scorecard."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import compress

import numpy as np

from apps.metrics.estimate import NONE, PERCENTILE
from apps.metrics.expected.hits import find_hits
from apps.metrics.expected.measures import hit_summaries, measure_hits
from apps.metrics.expected.rules import HitRule, Question, Returned
from apps.metrics.files.strata import QueryDivision
from apps.metrics.items import QUESTIONS
from apps.metrics.measures.entries import Measure
from apps.metrics.scorecard import Input, Scorecard, ScoredRun, StratumScores, compared_with_first
from apps.metrics.scoring import RunScores


class TripleGround:
    """What every run is measured against: the questions that the rule says something about.

    `asked` are their ids, `undefined` those of the others.
    """

    def __init__(self, questions: Sequence[Question], rule: HitRule, measures: Mapping[str, Measure]) -> None:
        self.rule, self.measures = rule, measures
        nothing = find_hits(questions, {}, rule)
        self.undefined, self._is_defined = nothing.undefined, nothing.is_defined
        self.questions = list(compress(questions, self._is_defined))
        self.asked = tuple(one.id for one in self.questions)

    def divided(self, divisions: Sequence[QueryDivision]) -> list[QueryDivision]:
        """The divisions of all questions, for those that the rule says something about."""
        return [one._replace(labels=tuple(compress(one.labels, self._is_defined))) for one in divisions]

    def measured(
        self, tag: str, returned: Mapping[str, Sequence[Returned]], *, confidence: float, with_interval: bool = True
    ) -> tuple[ScoredRun, int]:
        """One run, and how many of its passages the rule cannot read."""
        measures = list(self.measures.values())
        hits = find_hits(self.questions, returned, self.rule)
        values = measure_hits(measures, hits)
        summaries = hit_summaries(measures, values, confidence=confidence, with_interval=with_interval)
        answered = int((hits.returned > 0).sum())
        scores = RunScores(values, summaries, None, answered, len(self.asked) - answered)
        return ScoredRun(tag, scores, hits.missing), hits.unreadable


def card_of(
    ground: TripleGround,
    runs: Sequence[ScoredRun],
    divisions: Sequence[QueryDivision],
    *,
    confidence: float,
    seed: int,
    interval: str = PERCENTILE,
    is_compared: bool = False,
    with_queries: bool = False,
    unreadable: int = 0,
    inputs: Sequence[Input] = (),
    fewest: int = 0,
) -> Scorecard:
    """The scorecard of the runs, also by stratum; where they are compared, the first is the baseline."""
    card = Scorecard(
        measures=ground.measures,
        queries=ground.asked,
        with_relevant=len(ground.asked),
        runs=runs,
        confidence=confidence,
        seed=seed,
        interval=interval,
        with_queries=with_queries,
        strata=list(_strata(ground, runs, divisions, confidence, with_interval=interval != NONE)),
        inputs=inputs,
        hit=ground.rule,
        undefined=ground.undefined,
        unreadable=unreadable,
        fewest=fewest,
    )
    if not is_compared:
        return card
    compared = compared_with_first(
        runs,
        ground.measures,
        ground.asked,
        confidence=confidence,
        seed=seed,
        interval=interval,
        items=QUESTIONS,
    )
    return card._replace(comparisons=compared)


def _strata(
    ground: TripleGround,
    runs: Sequence[ScoredRun],
    divisions: Sequence[QueryDivision],
    confidence: float,
    *,
    with_interval: bool,
) -> Iterator[StratumScores]:
    measures = list(ground.measures.values())
    for division in divisions:
        labels = np.array(division.labels)
        named = sorted(set(division.labels) - {""}, key=lambda name: (-int((labels == name).sum()), name))
        for name in named:
            inside = labels == name
            summaries = tuple(
                hit_summaries(measures, run.scores.values[inside], confidence=confidence, with_interval=with_interval)
                for run in runs
            )
            yield StratumScores(division.field, name, int(inside.sum()), summaries)
