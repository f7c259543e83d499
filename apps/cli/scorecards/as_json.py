"""A scorecard as one JSON object: numbers unrounded, what is undefined is null."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from apps.common.text.jsontext import figures, written
from apps.metrics.comparison import Row
from apps.metrics.scorecard import NONE, Against, Beside, Scorecard, ScoredRun
from apps.metrics.scoring import conventions
from apps.metrics.statistics.paired_tests import Statistic
from apps.metrics.statistics.significance import RESAMPLES, Summary, WinTally


def as_json(card: Scorecard) -> str:
    missing = set().union(*(run.missing for run in card.runs))
    has_intervals = card.interval != NONE
    body = {
        "queries": {
            "judged": len(card.queries),
            "with_relevant": card.with_relevant,
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
        "conventions": conventions(list(card.measures.values())),
    }
    return written(body) + "\n"


def _run(card: Scorecard, place: int) -> dict[str, Any]:
    run = card.runs[place]
    found: dict[str, Any] = {
        "tag": run.tag,
        "queries": {"in_run": run.scores.answered, "missing": run.scores.missing},
        "measures": _summaries(card.measures, run.scores.summaries),
        "judged@10": run.scores.judged_at_10,
    }
    if card.strata:
        found["strata"] = {field: {} for field in dict.fromkeys(stratum.field for stratum in card.strata)}
    for stratum in card.strata:
        measures = _summaries(card.measures, stratum.summaries[place])
        found["strata"][stratum.field][stratum.name] = {"n": stratum.n, "measures": measures}
    if card.with_queries:
        found["per_query"] = _per_query(card, run)
    return found


def _summaries(names: Iterable[str], summaries: Sequence[Summary]) -> dict[str, Any]:
    return {
        name: {"mean": one.mean, "ci": _bounds(one.interval), "n": one.n}
        for name, one in zip(names, summaries, strict=True)
    }


def _bounds(interval: tuple[float, float] | None) -> list[float] | None:
    return list(interval) if interval else None


def _per_query(card: Scorecard, run: ScoredRun) -> dict[str, Any]:
    return dict(zip(card.queries, figures(list(card.measures), run.scores.values), strict=True))


def _comparisons(card: Scorecard) -> dict[str, Any]:
    if not card.comparisons:
        return {}
    return {
        "comparisons": [
            {
                "baseline": against.baseline,
                "candidate": against.candidate,
                "measures": {row.measure: _difference(against, row) for row in against.rows},
                "left_out": list(against.left_out),
            }
            for against in card.comparisons
        ],
        "family": card.family,
        "compared_resamples": RESAMPLES,
    }


def _difference(against: Against, row: Row) -> dict[str, Any]:
    found = row.difference
    return {
        "baseline": row.baseline,
        "candidate": row.candidate,
        "difference": found.mean,
        "ci": _bounds(found.interval),
        "n": found.n,
        "p": found.p,
        "p_holm": found.holm,
        "better": found.better,
        "equal": found.equal,
        "worse": found.worse,
        "rests_on": found.rests_on,
        "sign": _sign(found.tally),
        **_beside(against.beside[row.measure]),
        "regressions": [
            {"query": one.query_id, "baseline": one.baseline, "candidate": one.candidate, "difference": one.change}
            for one in against.fell[row.measure]
        ],
    }


def _beside(found: Beside) -> dict[str, Any]:
    tests = found.tests
    return {
        "t": _statistic(tests.t),
        "wilcoxon": _statistic(tests.wilcoxon),
        "effect_size": tests.effect,
        "effect_size_ci": _bounds(tests.effect_interval),
        "detectable_difference": found.detectable,
        "queries_needed": found.needed,
    }


def _sign(found: WinTally) -> dict[str, Any] | None:
    return {"value": found.better, "p": found.sign_p, "n": found.moved} if found.moved else None


def _statistic(found: Statistic | None) -> dict[str, float] | None:
    return {"value": found.value, "p": found.p, "n": found.n} if found else None
