import itertools
import re

import pytest
from django.db import IntegrityError, transaction

from apps.audit.models import Event
from apps.common.database.functions import from_now
from apps.jobs import workflow
from apps.jobs.enums import ENDED, JobState, JobStep
from apps.jobs.models import Job
from tests.conftest import REPO
from tests.factories import AT
from tests.jobs.factories import make_job

pytestmark = pytest.mark.django_db

ALLOWED = {
    ("queued", "claim"): "running",
    ("running", "reclaim"): "running",
    ("running", "finish"): "done",
    ("running", "try again"): "queued",
    ("running", "give up"): "failed",
    ("queued", "cancel"): "cancelled",
    ("running", "cancel"): "cancelled",
    ("failed", "retry"): "queued",
    ("cancelled", "retry"): "queued",
}


def fields_of(state: str) -> dict:
    """What the database asks of a row in this state."""
    return {
        "finished_at": AT if state in ENDED else None,
        "lease_expires_at": from_now(60) if state == JobState.RUNNING else None,
    }


def job_in_state(state: str) -> Job:
    job = make_job()
    Job.objects.filter(pk=job.pk).update(state=state, attempt=1, **fields_of(state))
    return Job.objects.get(pk=job.pk)


@pytest.mark.parametrize(("state", "step"), list(itertools.product(JobState.values, JobStep.values)))
def test_every_step_from_every_state(state, step):
    job = job_in_state(state)
    target = ALLOWED.get((state, step))

    moved = workflow.move(job.pk, JobStep(step), at=AT, **(fields_of(target) if target else {}))

    job.refresh_from_db()
    assert (moved.state if moved else None) == target
    assert job.state == (target or state)


def test_a_move_writes_its_event():
    job = job_in_state("failed")

    workflow.move(job.pk, JobStep.RETRY, at=AT, finished_at=None)

    event = Event.objects.latest("pk")
    assert (event.action, event.object_id, event.before, event.after) == (
        "job.retried",
        str(job.pk),
        {"state": "failed"},
        {"state": "queued", "attempt": 1},
    )


def test_a_move_that_the_row_refuses_writes_nothing():
    job = job_in_state("done")
    before = Event.objects.count()

    moved = workflow.move(job.pk, JobStep.CLAIM, at=AT)

    assert moved is None
    assert Event.objects.count() == before


@pytest.mark.parametrize(
    "fields",
    [
        {"state": "asleep"},
        {"state": "done", "finished_at": None},
        {"state": "queued", "finished_at": AT},
        {"state": "running", "lease_expires_at": None},
        {"state": "queued", "lease_expires_at": AT},
        {"attempt": 4},
    ],
)
def test_the_database_refuses_rows_that_make_no_sense(fields):
    job = make_job()

    with pytest.raises(IntegrityError), transaction.atomic():
        Job.objects.filter(pk=job.pk).update(**fields)


def test_the_diagram_in_the_reference_is_the_table():
    page = (REPO / "docs" / "reference" / "jobs.md").read_text()

    drawn = set(re.findall(r"^    (\w+) --> (\w+) : ([a-z ]+?)(?: \(.*\))?$", page, re.MULTILINE))

    assert drawn == {(str(source), str(target), str(step)) for (source, step), target in workflow.EDGES.items()}
