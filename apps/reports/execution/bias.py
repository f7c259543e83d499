"""Score runs again with each system left out."""

from collections.abc import Sequence
from typing import Any

from apps.evaluation.selectors import rankings
from apps.evaluation.selectors.rankings import UNJUDGED_AT
from apps.goldsets.models import Version
from apps.jobs.execution.context import JobContext
from apps.jobs.selectors.job_kinds import job_kind
from apps.metrics.columns import Ints, Judged
from apps.metrics.measures.entries import Measure
from apps.metrics.measures.registry import parse_measures
from apps.reports.core import unjudged_priority
from apps.reports.core.bias import UNKNOWN, means_under, sole_finders, without
from apps.reports.execution.analyses import compute_report
from apps.reports.models import BiasReport
from apps.reports.rules import MOST_FIRST
from apps.reports.selectors import finders
from apps.retrieval.models import Run


@job_kind("reports.bias", title="Leave one system out")
def bias(ctx: JobContext) -> dict[str, Any]:
    return compute_report(ctx, BiasReport, _without_each)


def _without_each(
    ctx: JobContext, report: BiasReport, runs: Sequence[Run], ground: rankings.ScoringGround
) -> dict[str, Any]:
    """The result of a bias report.

    Its keys: `runs` (run, tag, system, means, unjudged), `left_out` (a `bias.LeftOutSystem` each), `grades`,
    `unknown` (grades of pairs that no run is known to have found), and `first`, what to judge first, from `_first`.
    """
    top_grade = _top_grade(report.version, ground.judged)
    weighing = unjudged_priority.weighing(parse_measures(" ".join(report.measures))[0], top_grade)
    deep = max(report.depth, len(weighing.discounts))
    steps = 2 * len(runs)
    tops = []
    for done, run in enumerate(runs):
        ctx.progress(done, steps, f"reading {run.tag}")
        tops.append(finders.top_of(run, ground.numbers, deep))
    finds = (
        finders.finds_by_rank(runs, tops, report.depth)
        if report.depth
        else finders.finds_of_pools(report.version, ground.numbers)
    )
    sole = sole_finders(ground.judged, finds)
    tables = _under_each(ctx, report, runs, ground, sole)
    priority = unjudged_priority.UnjudgedPriority(ground.judged, tops, weighing)
    return {
        **tables,
        "grades": len(sole),
        "unknown": int((sole == UNKNOWN).sum()),
        "first": _first(priority, runs, top_grade),
    }


def _top_grade(version: Version, judged: Judged) -> int:
    """The best possible grade by the guideline, if there is one, and the grades."""
    scale = [grade["grade"] for grade in version.guideline.grades] if version.guideline else []
    return max([1, *scale, int(judged.grade.max())])


def _under_each(
    ctx: JobContext, report: BiasReport, runs: Sequence[Run], ground: rankings.ScoringGround, sole: Ints
) -> dict[str, Any]:
    """Every run scored with all judgements and without those of each system; one run in memory at a time."""
    names = {run.system_id: run.system.name for run in runs}
    grounds = [ground.judged, *(without(ground.judged, sole == system) for system in names)]
    measures = parse_measures(" ".join(report.measures))
    depths = [Measure("Judged", depth) for depth in UNJUDGED_AT]
    ids = range(report.version.snapshot.block_count)
    lines, means = [], []
    for done, run in enumerate(runs):
        ctx.progress(len(runs) + done, 2 * len(runs), f"scoring {run.tag} with each system left out")
        ranked = rankings.ranked_of(run, ground.numbers)
        judged = means_under([ground.judged], depths, ranked, ids)[0]
        unjudged = [None if share is None else 1 - share for share in judged]
        means.append(means_under(grounds, measures, ranked, ids))
        line = {"run": run.pk, "tag": run.tag, "system": run.system_id, "means": means[-1][0], "unjudged": unjudged}
        lines.append(line)
    left_out = [
        {
            "system": system,
            "name": name,
            "pairs": int((sole == system).sum()),
            "relevant": int(((sole == system) & (ground.judged.grade > 0)).sum()),
            "means": [rows[number] for rows in means],
        }
        for number, (system, name) in enumerate(names.items(), 1)
    ]
    return {"runs": lines, "left_out": left_out}


def _first(priority: unjudged_priority.UnjudgedPriority, runs: Sequence[Run], top_grade: int) -> dict[str, Any]:
    """What to judge first: the neighbours, and `pairs`, each with outside query id, block position and swing."""
    chosen = priority.first(MOST_FIRST)
    columns = zip(chosen.query.tolist(), chosen.block.tolist(), chosen.swing.tolist(), strict=True)
    return {
        "weighing": priority.weighing.name,
        "depth": len(priority.weighing.discounts),
        "top_grade": top_grade,
        "unjudged": len(priority.unjudged[0]),
        "movers": int((priority.swings > unjudged_priority.ROUNDING).sum()),
        "neighbours": [
            [runs[pair.better].tag, runs[pair.worse].tag, pair.gap, pair.is_settled] for pair in priority.neighbours
        ],
        "pairs": [[priority.judged.queries[query], block, swing] for query, block, swing in columns],
    }
