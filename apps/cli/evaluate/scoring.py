"""Scores an outside system's answers against a release and checks its gates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from apps.cli.evaluate.answers import SystemAnswer
from apps.cli.evaluate.release import STRATA, ReleaseSplit
from apps.gates.core.decisions import GateVerdict, RunEvidence, decide, worst
from apps.gates.core.rule import GateRule, measures_of
from apps.metrics.columns import BlockIds, Floats, Judged, Ranked, ranked_columns
from apps.metrics.files.fitted_ids import fit_of, fit_words
from apps.metrics.files.reading import missing_of
from apps.metrics.files.strata import QueryDivision, stratum_scores
from apps.metrics.measures import Measure
from apps.metrics.scorecard import Scorecard, ScoredRun, compared_with_first
from apps.metrics.scoring import queries_with_relevant, score_run
from apps.metrics.statistics.strata import FEWEST_IN_STRATUM
from apps.metrics.vocabulary import Vocabulary

MILLISECONDS = 1_000
PERCENTILES = (50, 95, 99)


class Answered(NamedTuple):
    """The results of a system for the queries of a release; `ids` are those of the blocks in `ranked`.

    `latencies` (milliseconds, one for each query) is None for a run file, which has no times.
    """

    name: str
    ranked: Ranked
    ids: BlockIds
    latencies: Floats | None = None


class LatencyFigures(NamedTuple):
    """Milliseconds for each query, over n queries."""

    p50: float
    p95: float
    p99: float
    mean: float
    n: int


class DecidedRule(NamedTuple):
    """A rule and its verdict on the run."""

    rule: GateRule
    verdict: GateVerdict


class Evaluated(NamedTuple):
    """`card` has the scores of the baseline, if there is one, and then of the run.

    `state` is the worst of all gates, None without gates.
    """

    card: Scorecard
    latency: LatencyFigures | None
    gates: tuple[DecidedRule, ...]
    state: str | None

    @property
    def run(self) -> ScoredRun:
        return self.card.runs[-1]


def from_answers(name: str, answers: Sequence[SystemAnswer], judged: Judged, blocks: Vocabulary) -> Answered:
    """The answers as columns, in the order of the judged queries."""
    rows = ((one.query_id, block, score) for one in answers for block, score in one.hits)
    ranked, _ = ranked_columns(rows, judged.queries, blocks)
    seconds = {one.query_id: one.seconds for one in answers}
    taken = [seconds.get(query, np.nan) * MILLISECONDS for query in judged.queries]
    return Answered(name, ranked, blocks.ids, np.array(taken, dtype=np.float64))


def fit_answers(answers: Sequence[SystemAnswer], judged: Judged, blocks: Vocabulary) -> tuple[list[SystemAnswer], str]:
    """The answers with blocks that nearly fit read as those of the release, and the rule in words; "" without one."""
    known = dict.fromkeys(one.decode() for one in blocks.ids.take(np.unique(judged.block)))
    fit = fit_of(known, dict.fromkeys(block for one in answers for block, _ in one.hits))
    if fit is None:
        return list(answers), ""
    ours = {theirs: one for one, theirs in fit.fits.items()}
    read = [one._replace(hits=tuple((ours.get(block, block), score) for block, score in one.hits)) for one in answers]
    return read, f"{fit_words(fit, 'blocks')} They are read so."


def evaluate(
    release: ReleaseSplit,
    judged: Judged,
    run: Answered,
    *,
    measures: Sequence[Measure],
    rules: Sequence[GateRule] = (),
    baseline: Answered | None = None,
    cost: float | None = None,
    seed: int,
    confidence: float,
) -> Evaluated:
    """Score the run, then check the rules; measures of rules that are not in `measures` are scored too."""
    wanted = {str(measure): measure for measure in [*measures, *measures_of(rules)]}
    answered = [baseline._replace(name=f"{baseline.name} (baseline)"), run] if baseline else [run]
    runs = [_scored(one, list(wanted.values()), judged, confidence) for one in answered]
    divisions = list(_divisions(release))
    evidence = RunEvidence(
        query_ids=judged.queries,
        values=runs[-1].scores.columns(wanted),
        baseline=runs[0].scores.columns(wanted) if baseline else None,
        latencies=run.latencies,
        cost=cost,
        strata={division.field: division.labels for division in divisions},
        slices=release.slices,
        seed=seed,
    )
    gates = tuple(DecidedRule(rule, decide(rule, evidence)) for rule in rules)
    card = _card(wanted, judged, runs, divisions, seed, confidence)
    return Evaluated(card, latency_of(run.latencies), gates, worst(one.verdict for one in gates) if gates else None)


def _card(
    measures: dict[str, Measure],
    judged: Judged,
    runs: Sequence[ScoredRun],
    divisions: Sequence[QueryDivision],
    seed: int,
    confidence: float,
) -> Scorecard:
    """The scores of the runs, also by stratum; of two runs the first is the baseline."""
    values = [one.scores.values for one in runs]
    strata = [
        stratum
        for division in divisions
        for stratum in stratum_scores(division, values, confidence=confidence, with_interval=True)
    ]
    return Scorecard(
        measures=measures,
        queries=judged.queries,
        with_relevant=queries_with_relevant(judged),
        runs=runs,
        confidence=confidence,
        seed=seed,
        strata=strata,
        comparisons=compared_with_first(runs, measures, judged.queries, confidence=confidence, seed=seed),
        fewest=FEWEST_IN_STRATUM,
    )


def _scored(run: Answered, measures: Sequence[Measure], judged: Judged, confidence: float) -> ScoredRun:
    scores = score_run(measures, judged, run.ranked, run.ids, confidence=confidence)
    return ScoredRun(run.name, scores, missing_of(judged, run.ranked))


def _divisions(release: ReleaseSplit) -> Iterator[QueryDivision]:
    """The fields with a label for any query, with the label of each query."""
    for field in STRATA:
        labels = tuple(query.fields.get(field, "") for query in release.queries)
        if any(labels):
            yield QueryDivision(field, labels)


def latency_of(latencies: Floats | None) -> LatencyFigures | None:
    """Percentiles over the queries with a known latency; None without any."""
    known = latencies[~np.isnan(latencies)] if latencies is not None else np.empty(0)
    if not len(known):
        return None
    p50, p95, p99 = (float(value) for value in np.percentile(known, PERCENTILES))
    return LatencyFigures(p50, p95, p99, float(known.mean()), len(known))
