import pytest

from apps.common.database.functions import from_now
from apps.common.database.questions import answer_to
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


def test_a_job_that_waits_for_its_next_attempt_is_not_requeued():
    job = make_job()
    Job.objects.filter(pk=job.pk).update(next_at=from_now(60))

    assert sweep.jobs_to_nudge() == []


def test_a_job_whose_worker_lives_is_not_nudged():
    job = make_job()
    Job.objects.filter(pk=job.pk).update(state="running", attempt=1, lease_expires_at=from_now(60))

    assert sweep.jobs_to_nudge() == []


def test_a_job_whose_worker_is_gone_is_nudged():
    job = abandoned()

    assert sweep.jobs_to_nudge() == [job.pk]


def test_a_sweep_nudges_no_more_than_twenty_oldest_first():
    jobs = [make_job() for _ in range(25)]

    assert sweep.jobs_to_nudge() == [job.pk for job in jobs[:20]]


def test_an_abandoned_job_without_attempts_left_has_failed():
    job = abandoned(attempt=3, error="ValueError: seven")

    sweep.close_abandoned(at=AT)

    job.refresh_from_db()
    assert (job.state, job.lease_expires_at) == ("failed", None)
    assert job.error == (
        "The worker stopped in the middle of this job, in attempt 3 of 3. Before that: ValueError: seven"
    )


def test_an_abandoned_job_that_was_to_stop_is_cancelled():
    job = abandoned(cancel_requested_at=AT)

    sweep.close_abandoned(at=AT)

    job.refresh_from_db()
    assert job.state == "cancelled"


def test_an_abandoned_job_with_attempts_left_stays_for_the_next_worker():
    job = abandoned(attempt=2)

    sweep.close_abandoned(at=AT)

    job.refresh_from_db()
    assert job.state == "running"


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


def test_a_beat_is_one_row_per_worker():
    sweep.beat("one:1")
    sweep.beat("one:1")
    sweep.beat("two:2")

    assert sorted(WorkerBeat.objects.values_list("worker", flat=True)) == ["one:1", "two:2"]


def test_a_worker_unseen_for_a_day_is_forgotten():
    WorkerBeat.objects.create(worker="old", started_at=AT, seen_at=AT)

    sweep.beat("new")

    assert list(WorkerBeat.objects.values_list("worker", flat=True)) == ["new"]


def test_the_banner_says_when_no_worker_was_ever_seen():
    assert worker_last_seen() is None
    assert notice() == "No worker has been seen yet. Imports, pools and scores wait until one runs."


def test_the_banner_is_silent_while_a_worker_lives():
    sweep.beat("one")

    assert worker_last_seen() == 0
    assert notice() == ""


def test_the_banner_speaks_after_a_minute():
    sweep.beat("one")
    WorkerBeat.objects.update(seen_at=from_now(-75))

    assert notice() == ("No worker has been seen for 75 s. Imports, pools and scores wait until one runs.")
