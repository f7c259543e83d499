"""The state transitions of runs, pools and loaded indexes, and the functions that make them."""

from datetime import datetime
from typing import Any

from django.db import transaction

from apps.accounts.models import User
from apps.audit.actions import save_step
from apps.retrieval.enums import IndexState, PoolState, RunState, Step
from apps.retrieval.models import LoadedIndex, Pool, Run

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

INDEX_EDGES: dict[tuple[str, str], IndexState] = {
    (IndexState.LOADING, Step.COMPLETE): IndexState.READY,
    (IndexState.LOADING, Step.FAIL): IndexState.FAILED,
    (IndexState.FAILED, Step.RESUME): IndexState.LOADING,
    (IndexState.READY, Step.DROP): IndexState.DROPPED,
    (IndexState.FAILED, Step.DROP): IndexState.DROPPED,
}

_EVENTS = {
    Step.COMPLETE: "completed",
    Step.FAIL: "failed",
    Step.RESUME: "resumed",
    Step.GROW: "grown",
    Step.DROP: "dropped",
}


def move_run(run_id: int, step: Step, *, actor: User | None, at: datetime, **changes: Any) -> Run:
    """Change the state of a run, with its audit event; `changes` are other fields. Raises IllegalStep."""
    return _move(Run, RUN_EDGES, run_id, step, actor=actor, at=at, **changes)


def move_pool(pool_id: int, step: Step, *, actor: User | None, at: datetime, **changes: Any) -> Pool:
    """Change the state of a pool, with its audit event; `changes` are other fields. Raises IllegalStep."""
    return _move(Pool, POOL_EDGES, pool_id, step, actor=actor, at=at, **changes)


def move_index(index_id: int, step: Step, *, actor: User | None, at: datetime, **changes: Any) -> LoadedIndex:
    """Change the state of a loaded index, with its audit event; `changes` are other fields. Raises IllegalStep."""
    return _move(LoadedIndex, INDEX_EDGES, index_id, step, actor=actor, at=at, **changes)


@transaction.atomic
def _move(model: Any, edges: Any, pk: int, step: Step, *, actor: User | None, at: datetime, **changes: Any) -> Any:
    row = model.objects.select_for_update(of=("self",)).select_related("project").get(pk=pk)
    noun = model._meta.verbose_name
    save_step(
        row,
        step,
        edges.get((row.state, step)),
        project=row.project,
        actor=actor,
        action=f"{noun.replace(' ', '_')}.{_EVENTS[step]}",
        after={name: value for name, value in changes.items() if name != "job"},
        at=at,
        **changes,
    )
    return row
