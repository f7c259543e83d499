"""Scoring a run against one side of a version."""

from typing import Any

from apps.evaluation import packing, selectors
from apps.evaluation.execution.common import NO_GRADES
from apps.evaluation.measures import Measure, measure_run, parse_measures
from apps.evaluation.models import Evaluation, Score
from apps.evaluation.scoring import JUDGED_AT_10, queries_with_relevant
from apps.evaluation.significance import Summary, mean_of, summaries
from apps.jobs.context import JobContext, JobFailed
from apps.jobs.registry import job_kind

JUDGED_DEPTH = 20


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
