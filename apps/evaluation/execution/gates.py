"""Holding what was scored before to a gate that is new, or to one whose figures have come since."""

from typing import Any

from apps.evaluation import gatekeeping, gates
from apps.evaluation.models import Evaluation, Gate
from apps.jobs.context import JobContext
from apps.jobs.registry import job_kind


@job_kind(gatekeeping.KIND, title="Hold what is scored to a gate")
def hold(ctx: JobContext) -> dict[str, Any]:
    """Decide the gate `gate_id` on every run of its system that was scored before, oldest version and run first."""
    gate = Gate.objects.get(pk=ctx.params["gate_id"])
    keys = list(gates.scored_for(gate).values_list("pk", flat=True)) if gate.retired_at is None else []
    for done, key in enumerate(keys):
        ctx.progress(done, len(keys), gate.name)
        evaluation = Evaluation.objects.select_related("run__ledger", "version__snapshot").get(pk=key)
        mine = [one for one in gates.undecided_on(evaluation) if one.pk == gate.pk]
        decided = gatekeeping.decide_on(evaluation, mine)
        with ctx.chunk(f"evaluation:{key}") as fresh:
            if fresh:
                gatekeeping.keep(evaluation, decided, at=ctx.at, tells=ctx.params["tells"])
    with ctx.finish() as result:
        result.update(gate_id=gate.pk, evaluations=len(keys))
    return ctx.result
