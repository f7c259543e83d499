"""The state transitions of runs and pools, and the functions that make them."""

from datetime import datetime
from typing import Any

from django.db import transaction

from apps.accounts.models import User
from apps.audit.actions import record
from apps.common.errors import Refusal
from apps.retrieval.enums import PoolState, RunState, Step
from apps.retrieval.models import Pool, Run

RUN_EDGES: dict[tuple[str, str], RunState] = {
    (RunState.PENDING, Step.COMPLETE): RunState.COMPLETE,
    (RunState.PENDING, Step.FAIL): RunState.FAILED,
    (RunState.FAILED, Step.RESUME): RunState.PENDING,
}

POOL_EDGES: dict[tuple[str, str], PoolState] = {
    (PoolState.PENDING, Step.COMPLETE): PoolState.COMPLETE,
    (PoolState.PENDING, Step.FAIL): PoolState.FAILED,
    (PoolState.FAILED, Step.RESUME): PoolState.PENDING,
    (PoolState.COMPLETE, Step.GROW): PoolState.PENDING,
}

_EVENTS = {
    Step.COMPLETE: "completed",
    Step.FAIL: "failed",
    Step.RESUME: "resumed",
    Step.GROW: "grown",
}


class IllegalStep(Refusal):
    """A step that is not possible in the current state of a run or pool."""


def move_run(run_id: int, step: Step, *, actor: User | None, at: datetime, **changes: Any) -> Run:
    """Change the state of a run, with its audit event; `changes` are other fields. Raises IllegalStep."""
    return _move(Run, RUN_EDGES, run_id, step, actor=actor, at=at, **changes)


def move_pool(pool_id: int, step: Step, *, actor: User | None, at: datetime, **changes: Any) -> Pool:
    """Change the state of a pool, with its audit event; `changes` are other fields. Raises IllegalStep."""
    return _move(Pool, POOL_EDGES, pool_id, step, actor=actor, at=at, **changes)


@transaction.atomic
def _move(model: Any, edges: Any, pk: int, step: Step, *, actor: User | None, at: datetime, **changes: Any) -> Any:
    row = model.objects.select_for_update(of=("self",)).select_related("project").get(pk=pk)
    target, before = edges.get((row.state, step)), row.state
    noun = model._meta.verbose_name
    if target is None:
        raise IllegalStep(f"This {noun} is {row.get_state_display()} and cannot {step}.", code="illegal_step")
    for field, value in {"state": target, **changes}.items():
        setattr(row, field, value)
    row.save(update_fields=["state", *changes])
    record(
        project=row.project,
        actor=actor,
        action=f"{noun}.{_EVENTS[step]}",
        obj=row,
        before={"state": before},
        after={"state": row.state, **{key: value for key, value in changes.items() if key != "job"}},
        at=at,
    )
    return row
