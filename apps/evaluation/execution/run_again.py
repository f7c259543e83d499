"""Running systems again on the newer snapshot of a version, and scoring each run as soon as it is complete."""

from collections.abc import Sequence
from typing import Any

from apps.evaluation.enums import RUN_AGAIN
from apps.evaluation.execution.scoring import score_as_part
from apps.evaluation.models import Evaluation
from apps.jobs.execution.context import JobContext, JobFailed
from apps.jobs.selectors.job_kinds import job_kind
from apps.retrieval.enums import INDEXED, RunState
from apps.retrieval.execution.indexes import open_system
from apps.retrieval.execution.jobs import follow_job, make_run
from apps.retrieval.execution.ranking import Steps
from apps.retrieval.models import Run
from apps.retrieval.selectors.runs import runs_to_make


@job_kind(RUN_AGAIN, title="Run systems again", follower=follow_job)
def run_systems_again(ctx: JobContext) -> dict[str, Any]:
    """Make the runs `run_ids` on the queries `query_ids`, and their scores on the version `version_id`.

    Fails at the end where one could not be made or scored; the others are there.
    """
    run_ids, query_ids = ctx.params["run_ids"], ctx.params["query_ids"]
    parts = Run.objects.filter(job=ctx.job_id)
    scores = Evaluation.objects.filter(job=ctx.job_id)
    steps = Steps(ctx, len(query_ids) * parts.count() + scores.count())
    steps.add(len(query_ids) * parts.filter(state=RunState.COMPLETE).count(), "continuing")
    faults = []
    for run in _runs(run_ids):
        try:
            for part in runs_to_make(run):
                _make(ctx, part, query_ids, steps)
            _score(run, steps)
        except JobFailed as fault:
            faults.append(f"{run.tag}: {fault}")
    if faults:
        raise JobFailed(" ".join(faults))
    with ctx.finish() as result:
        result.update(version_id=ctx.params["version_id"], runs=len(run_ids), scores=scores.count())
    return ctx.result


def _runs(run_ids: Sequence[int]) -> list[Run]:
    runs = Run.objects.select_related("system", "snapshot", "project").in_bulk(run_ids)
    return [runs[pk] for pk in run_ids]


def _make(ctx: JobContext, run: Run, query_ids: Sequence[int], steps: Steps) -> None:
    if run.system.kind in INDEXED:
        steps.add(0, f"indexing the passages for {run.system.name}")
        open_system(run.system, run.snapshot)
    make_run(ctx, run, query_ids, steps)


def _score(run: Run, steps: Steps) -> None:
    rows = Evaluation.objects.filter(job=steps.ctx.job_id, run=run)
    for evaluation in rows.select_related("run", "version__snapshot", "version__gold_set__project", "slice"):
        steps.add(0, f"scoring {run.tag} on {evaluation.version.label}")
        score_as_part(steps.ctx, evaluation)
        steps.add(1, f"{run.tag} is scored on {evaluation.version.label}")
