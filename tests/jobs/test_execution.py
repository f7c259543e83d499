from datetime import timedelta

import pytest
from django.db.models.functions import Now
from django.utils import timezone

from apps.audit.models import Event
from apps.common.database.functions import from_now
from apps.jobs.enums import JobState
from apps.jobs.execution.context import JobContext, LeaseLost
from apps.jobs.execution.performing import claim, extend_lease, perform
from apps.jobs.models import Job, JobChunk
from tests.factories import AT, make_project
from tests.jobs.factories import make_job
from tests.jobs.kinds import effects
from tests.running_jobs import run_jobs

pytestmark = pytest.mark.django_db


def attempt(job: Job) -> Job | None:
    return perform(job.pk, worker="test", clock=timezone.now, with_heartbeat=False)


def lapse(job: Job) -> None:
    Job.objects.filter(pk=job.pk).update(lease_expires_at=from_now(-1))


def test_a_job_runs_once_and_ends_with_its_result():
    job = make_job()

    (ended,) = run_jobs()

    assert (ended.pk, ended.state, ended.result, ended.attempt) == (job.pk, "done", {"written": 1}, 1)
    assert ended.finished_at is not None
    assert effects(job.pk) == ["all"]


def test_what_the_handler_returns_is_the_result():
    make_job("test.answers")

    assert [job.result for job in run_jobs()] == [{"answer": 42}]


def test_a_job_that_is_done_says_that_all_of_it_is():
    make_job("test.halfway")

    (ended,) = run_jobs()

    assert (ended.state, ended.done, ended.total) == ("done", 3, 3)


def test_a_job_that_is_done_at_the_second_attempt_says_that_all_of_it_is():
    job = make_job()
    Job.objects.filter(pk=job.pk).update(done=0, total=1)

    (ended,) = run_jobs()

    assert (ended.done, ended.total) == (1, 1)


def test_a_doubled_nudge_has_no_second_effect():
    job = make_job()

    first, second = attempt(job), attempt(job)

    assert (first.state, second) == ("done", None)
    assert effects(job.pk) == ["all"]


def test_a_job_is_claimed_by_one():
    job = make_job()

    assert claim(job.pk, worker="a", at=AT).attempt == 1
    assert claim(job.pk, worker="b", at=AT) is None


def test_a_lapsed_lease_is_taken_over_with_a_higher_attempt():
    job = make_job()
    claim(job.pk, worker="a", at=AT)
    lapse(job)

    taken = claim(job.pk, worker="b", at=AT)

    assert (taken.attempt, taken.worker) == (2, "b")


def test_the_old_holder_cannot_extend_its_lease_after_a_take_over():
    job = make_job()
    claim(job.pk, worker="a", at=AT)
    lapse(job)
    claim(job.pk, worker="b", at=AT)

    assert extend_lease(job.pk, 1) is False
    assert extend_lease(job.pk, 2) is True


def test_writing_a_part_renews_the_lease_of_the_job():
    job = make_job()
    ctx = JobContext(claim(job.pk, worker="a", at=AT), clock=timezone.now)
    lapse(job)

    with ctx.chunk("one"):
        pass

    assert claim(job.pk, worker="b", at=AT) is None


def test_a_frozen_worker_cannot_finish_after_a_take_over():
    job = make_job()
    frozen = JobContext(claim(job.pk, worker="a", at=AT), clock=timezone.now)
    lapse(job)
    attempt(job)

    with pytest.raises(LeaseLost), frozen.finish():
        Event.objects.create(action="test.effect", after={"job": job.pk, "name": "late"}, at=AT)

    assert effects(job.pk) == ["all"]


def test_a_frozen_worker_cannot_commit_a_part_after_a_take_over():
    job = make_job("test.chunks", parts=2)
    frozen = JobContext(claim(job.pk, worker="a", at=AT), clock=timezone.now)
    chunk = frozen.chunk("part:0")
    assert chunk.__enter__() is True
    Event.objects.create(action="test.effect", after={"job": job.pk, "name": "late"}, at=AT)
    Job.objects.filter(pk=job.pk).update(attempt=2)  # what another worker's claim does

    with pytest.raises(LeaseLost):
        chunk.__exit__(None, None, None)

    assert effects(job.pk) == []
    assert not JobChunk.objects.exists()


def test_a_frozen_worker_learns_it_at_its_next_progress():
    job = make_job("test.chunks", parts=2)
    frozen = JobContext(claim(job.pk, worker="a", at=AT), clock=timezone.now)
    lapse(job)
    claim(job.pk, worker="b", at=AT)

    with pytest.raises(LeaseLost):
        frozen.progress(1, 2)


@pytest.mark.parametrize("raises_at", range(4))
def test_a_write_that_fails_leaves_the_part_undone_and_the_next_attempt_does_the_rest(raises_at):
    job = make_job("test.chunks", parts=4, raises_at=raises_at)

    broken = attempt(job)

    assert (broken.state, broken.error) == ("queued", "RuntimeError: the disk is full")
    assert effects(job.pk) == [f"part {number}" for number in range(raises_at)]

    (ended,) = run_jobs()
    assert (ended.state, ended.attempt, ended.error) == ("done", 2, "")
    assert effects(job.pk) == ["part 0", "part 1", "part 2", "part 3", "end"]


def test_a_job_that_breaks_three_times_has_failed_with_the_reason():
    make_job("test.breaks")

    (ended,) = run_jobs()

    assert (ended.state, ended.attempt, ended.error) == ("failed", 3, "ValueError: seven")
    assert ended.finished_at is not None


def test_a_broken_job_waits_before_its_next_attempt():
    job = make_job("test.breaks")

    broken = attempt(job)

    assert Job.objects.filter(pk=broken.pk, next_at__gt=from_now(0)).exists()
    assert attempt(job) is None


@pytest.mark.parametrize(
    ("kind", "reason"),
    [("test.refuses", "The snapshot is gone."), ("test.fails", "The file holds nothing.")],
)
def test_a_refusal_fails_at_once_with_its_sentence(kind, reason):
    make_job(kind)

    (ended,) = run_jobs()

    assert (ended.state, ended.attempt, ended.error) == ("failed", 1, reason)


def test_a_kind_that_nobody_knows_fails_with_words():
    job = make_job()
    Job.objects.filter(pk=job.pk).update(kind="test.unknown")

    (ended,) = run_jobs()

    assert (ended.state, ended.error) == ("failed", "There is no job of the kind “test.unknown”.")


def test_a_job_requested_to_stop_stops_at_its_next_step():
    job = make_job("test.chunks", parts=3)
    ctx = JobContext(claim(job.pk, worker="a", at=AT), clock=timezone.now)
    Job.objects.filter(pk=job.pk).update(cancel_requested_at=AT)

    from apps.jobs.execution.performing import _attempt

    _attempt(Job.objects.get(pk=job.pk), ctx)

    job.refresh_from_db()
    assert (job.state, job.lease_expires_at) == ("cancelled", None)
    assert effects(job.pk) == []


def test_leases_follow_the_database_clock_and_not_the_host(monkeypatch):
    job = make_job()
    monkeypatch.setattr(timezone, "now", lambda: AT + timedelta(days=365_00))

    first = claim(job.pk, worker="a", at=timezone.now())

    assert claim(job.pk, worker="b", at=timezone.now()) is None
    assert Job.objects.filter(pk=first.pk, lease_expires_at__gt=Now()).exists()


def test_progress_is_stored_when_the_job_ends():
    job = make_job("test.chunks", parts=3)

    run_jobs()

    job.refresh_from_db()
    assert (job.done, job.total) == (3, 3)


def test_progress_inside_a_part_is_not_written_before_its_commit():
    job = make_job("test.chunks", parts=3)
    ctx = JobContext(claim(job.pk, worker="a", at=AT), clock=timezone.now)

    with ctx.chunk("part:0"):
        ctx.progress(1, 3)
        written_inside = Job.objects.get(pk=job.pk).done
    ctx.progress(2, 3)

    assert (written_inside, Job.objects.get(pk=job.pk).done) == (0, 2)


def test_progress_is_written_at_most_four_times_a_second(django_assert_num_queries):
    ctx = JobContext(claim(make_job().pk, worker="a", at=AT), clock=timezone.now)
    ctx.progress(0, 100)

    with django_assert_num_queries(0):
        for number in range(100):
            ctx.progress(number, 100)


def test_a_follower_hears_of_every_step():
    from apps.jobs.selectors.job_kinds import job_kind

    heard = []

    @job_kind("test.followed", title="Followed", follower=lambda job, at: heard.append(job.state))
    def followed(ctx):
        return {}

    make_job("test.followed")
    run_jobs()

    assert heard == [JobState.RUNNING, JobState.DONE]


def test_events_of_a_job_carry_its_attempt_as_request_id():
    job = make_job(project=make_project())

    run_jobs()

    event = Event.objects.get(action="test.effect")
    assert event.request_id == f"job-{job.pk}-1"
