"""The slow work: scoring a run against a version, and again with each system left out."""

from collections.abc import Sequence
from typing import Any

from apps.evaluation import first, packing, provenance, selectors
from apps.evaluation.bias import UNJUDGED_AT, UNKNOWN, means_under, sole_finders, without
from apps.evaluation.columns import Ints, Judged
from apps.evaluation.measures import Measure, measure_run, parse_measures
from apps.evaluation.models import BiasReport, Evaluation, Score
from apps.evaluation.rules import MOST_FIRST
from apps.evaluation.scoring import JUDGED_AT_10, queries_with_relevant
from apps.evaluation.significance import Summary, mean_of, summaries
from apps.goldsets.models import Version
from apps.jobs.context import JobContext, JobFailed
from apps.jobs.registry import job_kind
from apps.retrieval.models import Run

JUDGED_DEPTH = 20
NO_GRADES = "{version} holds no grades on this side: there is nothing to score against."


@job_kind("evaluation.score", title="Score a run")
def score(ctx: JobContext) -> dict[str, Any]:
    """Score the evaluation `evaluation_id`: all its measures, each query's value, and the intervals."""
    evaluation = Evaluation.objects.select_related("run", "version__snapshot").get(pk=ctx.params["evaluation_id"])
    if evaluation.is_scored:
        return {"evaluation_id": evaluation.pk}
    ground = selectors.judged_of(evaluation.version, evaluation.split)
    judged = ground.judged
    if not judged.queries:
        raise JobFailed(NO_GRADES.format(version=evaluation.version.label))
    ranked = selectors.ranked_of(evaluation.run, ground.numbers)
    ctx.progress(0, 1, f"{evaluation.run.tag} on {evaluation.version.label}")
    measures = with_judged(parse_measures(" ".join(evaluation.measures)))
    depths = [Measure("Judged", depth) for depth in range(1, JUDGED_DEPTH + 1)]
    ids = range(evaluation.version.snapshot.block_count)
    values = measure_run([*measures, *depths], judged, ranked, ids)
    asked, shares = values[:, : len(measures)], values[:, len(measures) :]
    found = summaries(asked, seed=evaluation.seed)
    answered = next(summary.n for measure, summary in zip(measures, found, strict=True) if measure == JUDGED_AT_10)
    evaluation.query_ids = list(judged.queries)
    evaluation.counts = {
        "judged": len(judged.queries),
        "with_relevant": queries_with_relevant(judged),
        "in_run": answered,
        "missing": len(judged.queries) - answered,
        "judged_to": [mean_of(column[column == column]) for column in shares.T],
    }
    with ctx.finish() as result:
        rows = zip(measures, found, asked.T, strict=True)
        Score.objects.bulk_create(
            score_row(evaluation, order, measure, summary, column)
            for order, (measure, summary, column) in enumerate(rows)
        )
        evaluation.scored_at = ctx.at
        evaluation.save(update_fields=["query_ids", "counts", "scored_at"])
        result.update(evaluation_id=evaluation.pk, queries=len(judged.queries))
    return ctx.result


def with_judged(measures: tuple[Measure, ...]) -> list[Measure]:
    """The measures with Judged@10 at the end."""
    return [*(measure for measure in measures if measure != JUDGED_AT_10), JUDGED_AT_10]


def score_row(evaluation: Evaluation, order: int, measure: Measure, summary: Summary, values: Any) -> Score:
    low, high = summary.interval or (None, None)
    return Score(
        evaluation=evaluation,
        measure=str(measure),
        order=order,
        mean=summary.mean,
        ci_low=low,
        ci_high=high,
        n=summary.n,
        values=packing.pack(values),
    )


@job_kind("evaluation.bias", title="Leave one system out")
def bias(ctx: JobContext) -> dict[str, Any]:
    """Compute the bias report `report_id`.

    Its result holds `runs` (run, tag, system, name, means, unjudged), `left_out` (a `bias.LeftOut` each), `grades`,
    `unknown` (grades nobody is known to have brought in), and `first`: what to judge first, as `_first` writes it.
    """
    report = BiasReport.objects.select_related("version__snapshot", "version__guideline").get(
        pk=ctx.params["report_id"]
    )
    if report.is_computed:
        return {"report_id": report.pk}
    ground = selectors.judged_of(report.version, report.split)
    if not ground.judged.queries:
        raise JobFailed(NO_GRADES.format(version=report.version.label))
    runs = selectors.runs_of(report)
    top_grade = _top_grade(report.version, ground.judged)
    weighing = first.weighing(parse_measures(" ".join(report.measures))[0], top_grade)
    deep = max(report.depth, len(weighing.discounts))
    steps = 2 * len(runs)
    tops = []
    for done, run in enumerate(runs):
        ctx.progress(done, steps, f"reading {run.tag}")
        tops.append(provenance.top_of(run, ground.numbers, deep))
    finds = (
        provenance.finds_by_rank(runs, tops, report.depth)
        if report.depth
        else provenance.finds_of_pools(report.version, ground.numbers)
    )
    sole = sole_finders(ground.judged, finds)
    tables = _under_each(ctx, report, runs, ground, sole)
    race = first.Race(ground.judged, tops, weighing)
    found = {
        **tables,
        "grades": len(sole),
        "unknown": int((sole == UNKNOWN).sum()),
        "first": _first(race, runs, top_grade),
    }
    with ctx.finish() as result:
        report.result, report.computed_at = found, ctx.at
        report.save(update_fields=["result", "computed_at"])
        result.update(report_id=report.pk, runs=len(runs))
    return ctx.result


def _top_grade(version: Version, judged: Judged) -> int:
    """The best grade that a judge could give, by the guideline where there is one."""
    scale = [grade["grade"] for grade in version.guideline.grades] if version.guideline else []
    return max([1, *scale, int(judged.grade.max())])


def _under_each(
    ctx: JobContext, report: BiasReport, runs: Sequence[Run], ground: selectors.Ground, sole: Ints
) -> dict[str, Any]:
    """Every run scored with all judgements and with those of each system gone, one run in memory at a time."""
    names = {run.system_id: run.system.name for run in runs}
    grounds = [ground.judged, *(without(ground.judged, sole == system) for system in names)]
    measures = parse_measures(" ".join(report.measures))
    depths = [Measure("Judged", depth) for depth in UNJUDGED_AT]
    ids = range(report.version.snapshot.block_count)
    lines, means = [], []
    for done, run in enumerate(runs):
        ctx.progress(len(runs) + done, 2 * len(runs), f"scoring {run.tag} with each system left out")
        ranked = selectors.ranked_of(run, ground.numbers)
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


def _first(race: first.Race, runs: Sequence[Run], top_grade: int) -> dict[str, Any]:
    """What to judge first: the neighbours, and `pairs` of outside query id, block position and swing."""
    chosen = race.first(MOST_FIRST)
    columns = zip(chosen.query.tolist(), chosen.block.tolist(), chosen.swing.tolist(), strict=True)
    return {
        "weighing": race.weighing.name,
        "depth": len(race.weighing.discounts),
        "top_grade": top_grade,
        "unjudged": len(race.unjudged[0]),
        "movers": int((race.swings > first.ROUNDING).sum()),
        "neighbours": [
            [runs[pair.better].tag, runs[pair.worse].tag, pair.gap, pair.is_settled] for pair in race.neighbours
        ],
        "pairs": [[race.judged.queries[query], block, swing] for query, block, swing in columns],
    }
