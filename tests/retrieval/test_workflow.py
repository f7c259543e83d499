import itertools

import pytest

from apps.audit.models import Event
from apps.common.errors import IllegalStep
from apps.retrieval import workflow
from apps.retrieval.enums import PoolState, RunState, Step
from apps.retrieval.models import Pool, Run
from tests.factories import AT, lead_of, make_project
from tests.retrieval.factories import make_snapshot, make_system

pytestmark = pytest.mark.django_db


def run_in_state(state):
    project = make_project()
    run = Run.objects.create(
        project=project, system=make_system(project), snapshot=make_snapshot(project), tag="t", depth=5,
        state=state, digest="d" if state == "complete" else "", completed_at=AT if state == "complete" else None,
        created_by=lead_of(project), created_at=AT,
    )  # fmt: skip
    return run


def pool_in_state(state):
    project = make_project()
    return Pool.objects.create(
        project=project, snapshot=make_snapshot(project), name="p", depth=5, state=state,
        completed_at=AT if state == "complete" else None, created_by=lead_of(project), created_at=AT,
    )  # fmt: skip


@pytest.mark.parametrize(("state", "step"), list(itertools.product(RunState.values, Step.values)))
def test_a_run_takes_the_steps_of_its_table_and_no_other(state, step):
    run = run_in_state(state)
    target = workflow.RUN_EDGES.get((state, step))
    changes = {"digest": "d", "completed_at": AT} if step == Step.COMPLETE else {}

    if target is None:
        with pytest.raises(IllegalStep):
            workflow.move_run(run.pk, Step(step), actor=None, at=AT, **changes)
        run.refresh_from_db()
        assert run.state == state
    else:
        assert workflow.move_run(run.pk, Step(step), actor=None, at=AT, **changes).state == target
        event = Event.objects.filter(object_type="retrieval.run").latest("pk")
        assert (event.before["state"], event.after["state"]) == (state, target)


@pytest.mark.parametrize(("state", "step"), list(itertools.product(PoolState.values, Step.values)))
def test_a_pool_takes_the_steps_of_its_table_and_no_other(state, step):
    pool = pool_in_state(state)
    target = workflow.POOL_EDGES.get((state, step))

    if target is None:
        with pytest.raises(IllegalStep):
            workflow.move_pool(pool.pk, Step(step), actor=None, at=AT, completed_at=AT)
    else:
        assert workflow.move_pool(pool.pk, Step(step), actor=None, at=AT, completed_at=AT).state == target
