"""A scorecard as one JSON object: numbers unrounded, undefined values null."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from apps.common.text.jsontext import figures, written
from apps.metrics.estimate import NONE
from apps.metrics.scorecard import LOWER_END, Scorecard, ScoredRun
from apps.metrics.scoring import conventions
from apps.metrics.statistics.significance import RESAMPLES, Summary

if TYPE_CHECKING:
    from apps.metrics.comparison import MeasureComparison, RunComparison


def as_json(card: Scorecard) -> str:
    missing = set().union(*(run.missing for run in card.runs))
    has_intervals = card.interval != NONE
    body = {
        **_measured_against(card),
        "queries": {
            **_counted(card),
            "in_run": len(card.queries) - len(missing),
            "missing": len(missing),
        },
        "runs": [_run(card, place) for place in range(len(card.runs))],
        **_comparisons(card),
        "confidence": card.confidence if has_intervals else None,
        "interval": card.interval if has_intervals else None,
        **({"stratified": card.stratified} if card.stratified else {}),
        "seed": card.seed,
        "resamples": "all" if has_intervals else None,
        "conventions": card.hit.words if card.hit else conventions(list(card.measures.values())),
    }
    return written(body) + "\n"


def _measured_against(card: Scorecard) -> dict[str, Any]:
    """The hit rule, and what its figures cannot know; nothing for scores by grades."""
    if card.hit is None:
        return {}
    return {"hit": str(card.hit), "lower_end": LOWER_END, "undefined": list(card.undefined)}


def _counted(card: Scorecard) -> dict[str, int]:
    if card.hit is None:
        return {"judged": len(card.queries), "with_relevant": card.with_relevant}
    return {"measured": len(card.queries), "undefined": len(card.undefined)}


def _run(card: Scorecard, place: int) -> dict[str, Any]:
    run = card.runs[place]
    entry: dict[str, Any] = {
        "tag": run.tag,
        "queries": {"in_run": run.scores.answered, "missing": run.scores.missing},
        "measures": _estimates(card, run.scores.summaries),
        **({} if card.hit else {"judged@10": run.scores.judged_at_10}),
    }
    if card.strata:
        entry["strata"] = {field: {} for field in dict.fromkeys(stratum.field for stratum in card.strata)}
    for stratum in card.strata:
        measures = _estimates(card, stratum.summaries[place])
        entry["strata"][stratum.field][stratum.name] = {"n": stratum.n, "measures": measures}
    if card.with_queries:
        entry["per_query"] = _per_query(card, run)
    return entry


def _estimates(card: Scorecard, summaries: Sequence[Summary]) -> dict[str, Any]:
    return {name: one.estimate(card.interval).as_json for name, one in zip(card.measures, summaries, strict=True)}


def _per_query(card: Scorecard, run: ScoredRun) -> dict[str, Any]:
    return dict(zip(card.queries, figures(list(card.measures), run.scores.values), strict=True))


def _comparisons(card: Scorecard) -> dict[str, Any]:
    if not card.comparisons:
        return {}
    return {
        "comparisons": [
            {
                "baseline": compared.baseline.name,
                "candidate": compared.candidate.name,
                "measures": {row.measure: _measure(compared, row) for row in compared.measures},
                "left_out": list(compared.left_out),
            }
            for compared in card.comparisons
        ],
        "family": card.family,
        "compared_resamples": RESAMPLES,
    }


def _measure(compared: RunComparison, row: MeasureComparison) -> dict[str, Any]:
    drops = compared.drops(row.measure)
    return {
        **row.as_json,
        "regressions": len(drops),
        "regressed": [
            {"query": drop.query_id, "baseline": drop.baseline, "candidate": drop.candidate, "difference": drop.change}
            for drop in drops
        ],
    }
