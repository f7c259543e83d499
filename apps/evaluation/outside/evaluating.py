"""An outside system's answers scored against a release and held to its gates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from apps.evaluation.columns import Floats, Judged, Ranked, Vocabulary, ranked_columns
from apps.evaluation.gating import Evidence, Rule, Verdict, decide, measures_of, worst
from apps.evaluation.measures import Measure
from apps.evaluation.outside.answers import Answer
from apps.evaluation.outside.release import STRATA, Release
from apps.evaluation.scoring import RunScores, score_run

MILLISECONDS = 1_000
PERCENTILES = (50, 95, 99)


class Answered(NamedTuple):
    """What a system gave for the queries of a release. `latencies` (milliseconds, one a query) is None for a run
    file, which carries no times.
    """

    name: str
    ranked: Ranked
    latencies: Floats | None = None


class Latency(NamedTuple):
    """Milliseconds a query over n queries."""

    p50: float
    p95: float
    p99: float
    mean: float
    n: int


class Held(NamedTuple):
    """A rule and what it said of the run."""

    rule: Rule
    verdict: Verdict


class Evaluated(NamedTuple):
    """`scores` has a column for each of `measures`; `state` is that of all gates, None where there are none."""

    measures: tuple[Measure, ...]
    scores: RunScores
    latency: Latency | None
    held: tuple[Held, ...]
    state: str | None


def from_answers(name: str, answers: Sequence[Answer], judged: Judged, blocks: Vocabulary) -> Answered:
    """The answers as columns, in the order of the judged queries."""
    rows = ((one.query_id, block.encode(), score) for one in answers for block, score in one.hits)
    ranked, _ = ranked_columns(rows, judged.queries, blocks)  # type: ignore[arg-type]
    seconds = {one.query_id: one.seconds for one in answers}
    taken = [seconds.get(query, np.nan) * MILLISECONDS for query in judged.queries]
    return Answered(name, ranked, np.array(taken, dtype=np.float64))


def evaluate(
    release: Release,
    judged: Judged,
    blocks: Vocabulary,
    run: Answered,
    *,
    measures: Sequence[Measure],
    rules: Sequence[Rule] = (),
    baseline: Answered | None = None,
    cost: float | None = None,
    seed: int,
    confidence: float,
) -> Evaluated:
    """Score the run, then hold it to the rules; what a rule needs beyond `measures` is scored as well."""
    wanted = tuple(dict.fromkeys([*measures, *measures_of(rules)]))
    ids = list(blocks)
    scores = score_run(wanted, judged, run.ranked, ids, confidence=confidence, seed=seed)
    other = score_run(wanted, judged, baseline.ranked, ids, seed=seed, with_intervals=False) if baseline else None
    evidence = Evidence(
        query_ids=judged.queries,
        values=_columns(wanted, scores),
        baseline=_columns(wanted, other) if other else None,
        latencies=run.latencies,
        cost=cost,
        strata={field: labels for field, labels in _labels(release).items() if any(labels)},
        seed=seed,
    )
    held = tuple(Held(rule, decide(rule, evidence)) for rule in rules)
    state = worst(one.verdict for one in held) if held else None
    return Evaluated(wanted, scores, latency_of(run.latencies), held, state)


def _columns(measures: Sequence[Measure], scores: RunScores) -> dict[str, Floats]:
    return {str(measure): scores.values[:, place] for place, measure in enumerate(measures)}


def _labels(release: Release) -> dict[str, list[str]]:
    return {field: [query.fields.get(field, "") for query in release.queries] for field in STRATA}


def latency_of(latencies: Floats | None) -> Latency | None:
    """Percentiles over the queries whose time is known; None when none is."""
    known = latencies[~np.isnan(latencies)] if latencies is not None else np.empty(0)
    if not len(known):
        return None
    p50, p95, p99 = (float(value) for value in np.percentile(known, PERCENTILES))
    return Latency(p50, p95, p99, float(known.mean()), len(known))
