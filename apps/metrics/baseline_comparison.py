"""Several runs set against one baseline: paired differences, all of them one family for Holm's correction."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from apps.metrics.columns import Floats, Ints
from apps.metrics.comparison import DROP_BAR, Row, changes
from apps.metrics.measures import Measure
from apps.metrics.scorecard import BCA, PERCENTILE, Against, Beside, ScoredRun
from apps.metrics.statistics.paired_tests import paired_tests
from apps.metrics.statistics.power import detectable_difference, queries_needed
from apps.metrics.statistics.significance import Difference, change_of, differences, mean_of


def set_against(
    baseline: ScoredRun,
    candidates: Sequence[ScoredRun],
    measures: Mapping[str, Measure],
    queries: Sequence[str],
    *,
    confidence: float,
    seed: int,
    interval: str = PERCENTILE,
    strata: Ints | None = None,
    bar: float = DROP_BAR,
) -> list[Against]:
    """Each candidate against the baseline, p corrected over all measures of all candidates.

    The columns of the runs' values stand in the order of `measures`, the rows in that of `queries`. A measure without
    a value for some query of the pair is left out of that pair. `interval` is one of `scorecard.INTERVALS`; `strata`
    are as in `significance.differences`. Where a lower value is better, `better` and `worse` count accordingly. A query
    that got worse by more than `bar` fell.
    """
    shared = [_shared(baseline, run, measures) for run in candidates]
    pairs = [(run, place) for run, places in zip(candidates, shared, strict=True) for place in places.values()]
    if not pairs or not len(queries):
        return [Against(baseline.tag, run.tag, (), {}, tuple(measures), bar=bar) for run in candidates]
    left = np.column_stack([baseline.scores.values[:, place] for _, place in pairs])
    right = np.column_stack([run.scores.values[:, place] for run, place in pairs])
    told = [
        _told(found, interval) for found in differences(left, right, confidence=confidence, seed=seed, strata=strata)
    ]
    pieces = iter(zip(told, _beside(change_of(left, right), confidence, seed), strict=True))
    return [
        _against(baseline, run, {name: next(pieces) for name in places}, measures, queries, bar)
        for run, places in zip(candidates, shared, strict=True)
    ]


def _told(found: Difference, interval: str) -> Difference:
    """The difference with the interval asked for in the first place."""
    if interval == PERCENTILE:
        return found
    return found._replace(interval=found.bca if interval == BCA else None)


def _beside(change: Floats, confidence: float, seed: int) -> Iterator[Beside]:
    tests = paired_tests(change, confidence=confidence, seed=seed)
    for found, mean in zip(tests, change.mean(axis=0).tolist(), strict=True):
        spread = found.spread or 0.0
        yield Beside(found, detectable_difference(spread, found.n), queries_needed(mean, spread))


def _shared(baseline: ScoredRun, run: ScoredRun, measures: Iterable[str]) -> dict[str, int]:
    """The places of the measures for which both runs have a value for every query."""
    undefined = set(np.nonzero(np.isnan(baseline.scores.values + run.scores.values))[1].tolist())
    return {name: place for place, name in enumerate(measures) if place not in undefined}


def _against(
    baseline: ScoredRun,
    run: ScoredRun,
    found: Mapping[str, tuple[Difference, Beside]],
    measures: Mapping[str, Measure],
    queries: Sequence[str],
    bar: float,
) -> Against:
    rows, fell = [], {}
    for place, (name, measure) in enumerate(measures.items()):
        if name in found:
            left, right = (one.scores.values[:, place] for one in (baseline, run))
            difference, is_lower_better = found[name][0], measure.entry.is_lower_better
            if is_lower_better:
                difference = difference._replace(better=difference.worse, worse=difference.better)
            rows.append(Row(name, mean_of(left) or 0.0, mean_of(right) or 0.0, difference, is_lower_better))
            found_changes = changes(queries, left, right, is_lower_better=is_lower_better, bar=bar)
            fell[name] = [change for change in found_changes if change.is_drop]
    left_out = tuple(name for name in measures if name not in found)
    beside = {name: one for name, (_, one) in found.items()}
    return Against(baseline.tag, run.tag, rows, fell, left_out, beside=beside, bar=bar)
