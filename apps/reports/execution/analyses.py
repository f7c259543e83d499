"""Shared by the jobs of analyses."""

from collections.abc import Callable, Sequence
from typing import Any

from apps.evaluation.execution.scoring import ground_of
from apps.evaluation.selectors.rankings import ScoringGround
from apps.jobs.execution.context import JobContext
from apps.reports.selectors.analyses import AnyReport, runs_of
from apps.retrieval.models import Run


def compute_report(
    ctx: JobContext,
    kind: type[AnyReport],
    compute: Callable[[JobContext, AnyReport, Sequence[Run], ScoringGround], dict[str, Any]],
    *,
    counted: Sequence[str] = ("runs",),
) -> dict[str, Any]:
    """Store the result of `compute` in the report `report_id`, unless it is computed.

    `counted` are keys of lists in it; the job's own result has their lengths.
    """
    reports = kind._default_manager.select_related(
        "version__snapshot", "version__guideline", "version__gold_set__project"
    )
    report = reports.get(pk=ctx.params["report_id"])
    if report.is_computed:
        return {"report_id": report.pk}
    ground = ground_of(report.version, report.split)
    computed = compute(ctx, report, runs_of(report), ground)
    with ctx.finish() as result:
        report.result, report.computed_at = computed, ctx.at
        report.save(update_fields=["result", "computed_at"])
        result.update(report_id=report.pk, **{name: len(computed[name]) for name in counted})
    return ctx.result
