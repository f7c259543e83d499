import pytest

from apps.common.database.batched_reads import answer_to
from apps.common.database.functions import from_now
from apps.jobs.execution import sweep
from apps.jobs.models import Job, WorkerBeat
from apps.jobs.selectors.jobs import worker_asked, worker_last_seen
from tests.factories import AT, make_project
from tests.jobs.factories import make_job

pytestmark = pytest.mark.django_db


def abandoned(*, attempt: int = 1, **fields: object) -> Job:
    job = make_job()
    Job.objects.filter(pk=job.pk).update(state="running", attempt=attempt, lease_expires_at=from_now(-1), **fields)
    return Job.objects.get(pk=job.pk)


def notice() -> str:
    return answer_to(make_project(), worker_asked())


def test_a_waiting_job_without_a_message_is_nudged_and_then_left_alone_for_a_while():
    job = make_job()

    assert sweep.jobs_to_nudge() == [job.pk]
    assert sweep.jobs_to_nudge() == []


@pytest.mark.parametrize(
    ("state", "lease", "next_at", "is_nudged"),
    [("queued", None, 60, False), ("running", 60, None, False), ("running", -1, None, True)],
    ids=["waits for its next attempt", "its worker lives", "its worker is gone"],
)
def test_a_job_is_nudged_when_nobody_does_it_and_it_may_begin(state, lease, next_at, is_nudged):
    job = make_job()
    times = {"lease_expires_at": lease and from_now(lease), "next_at": next_at and from_now(next_at)}
    Job.objects.filter(pk=job.pk).update(state=state, attempt=1, **times)

    assert sweep.jobs_to_nudge() == ([job.pk] if is_nudged else [])


def test_a_sweep_nudges_no_more_than_twenty_oldest_first():
    jobs = [make_job() for _ in range(25)]

    assert sweep.jobs_to_nudge() == [job.pk for job in jobs[:20]]


@pytest.mark.parametrize(
    ("fields", "state", "error"),
    [
        (
            {"attempt": 3, "error": "ValueError: seven"},
            "failed",
            "The worker stopped in the middle of this job, in attempt 3 of 3. Before that: ValueError: seven",
        ),
        ({"cancel_requested_at": AT}, "cancelled", ""),
        ({"attempt": 2}, "running", ""),
    ],
    ids=["no attempt is left", "it was to stop", "the next worker goes on"],
)
def test_an_abandoned_job_ends_unless_another_worker_may_go_on(fields, state, error):
    job = abandoned(**fields)

    sweep.close_abandoned(at=AT)

    job.refresh_from_db()
    assert (job.state, job.error, job.lease_expires_at is None) == (state, error, state != "running")


def test_one_job_that_cannot_be_closed_does_not_stop_the_sweep(monkeypatch):
    first, second = abandoned(attempt=3), abandoned(attempt=3)
    plain = sweep._close

    def broken(job, *, at):
        if job.pk == first.pk:
            raise RuntimeError("its follower is broken")
        plain(job, at=at)

    monkeypatch.setattr(sweep, "_close", broken)

    sweep.close_abandoned(at=AT)

    assert [Job.objects.get(pk=job.pk).state for job in (first, second)] == ["running", "failed"]


def test_a_beat_is_one_row_per_worker_and_one_unseen_for_a_day_is_forgotten():
    WorkerBeat.objects.create(worker="old", started_at=AT, seen_at=AT)

    for worker in ("one:1", "one:1", "two:2"):
        sweep.beat(worker)

    assert sorted(WorkerBeat.objects.values_list("worker", flat=True)) == ["one:1", "two:2"]


def test_the_banner_speaks_before_the_first_worker_and_a_minute_after_the_last():
    assert worker_last_seen() is None
    assert notice() == "No worker has been seen yet. Imports, pools and scores wait until one runs."

    sweep.beat("one")
    assert worker_last_seen() == 0
    assert notice() == ""

    WorkerBeat.objects.update(seen_at=from_now(-75))
    assert notice() == "No worker has been seen for 75 s. Imports, pools and scores wait until one runs."
