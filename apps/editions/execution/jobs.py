"""Jobs for editions that are too large to take in a request."""

from typing import Any

from apps.common.errors import InputErrors
from apps.corpus.execution import import_reading
from apps.corpus.execution.jobs import follow_import
from apps.editions.execution.taking import Taken, TakeOrder, take, take_import
from apps.jobs.execution.context import JobContext
from apps.jobs.selectors.job_kinds import job_kind

TAKE = "editions.take"
TAKE_IMPORT = "editions.take_import"


@job_kind(TAKE, title="Take an edition")
def take_job(ctx: JobContext) -> dict[str, Any] | None:
    order = TakeOrder.from_json(ctx.params["order"])
    assert ctx.actor is not None  # a person asked for it
    with ctx.finish() as result:
        taken = take(snapshot_id=ctx.params["snapshot_id"], order=order, actor=ctx.actor, at=ctx.at)
        result.update(_figures(taken))
    return None


@job_kind(TAKE_IMPORT, title="Import and take an edition", follower=follow_import)
def take_import_job(ctx: JobContext) -> dict[str, Any] | None:
    order = TakeOrder.from_json(ctx.params["order"])
    assert ctx.actor is not None  # a person asked for it
    try:
        with ctx.finish() as result:
            taken = take_import(import_id=ctx.params["import_id"], order=order, actor=ctx.actor, at=ctx.at)
            result.update(_figures(taken))
    except InputErrors as errors:
        with ctx.finish() as result:
            import_reading.note_faults(import_id=ctx.params["import_id"], errors=errors)
            result.update(errors=len(errors.errors))
    return None


def _figures(taken: Taken) -> dict[str, Any]:
    return {"snapshot_id": taken.snapshot.pk, "round_id": taken.round.pk if taken.round else None}
