"""The promise about crashes, kept by real worker processes: every job takes effect exactly once."""

import random
import signal
import time
from pathlib import Path

import pytest

from apps.audit.execution.sealing import has_unsealed
from apps.audit.models import Event
from apps.jobs.actions.jobs import enqueue
from apps.jobs.execution.outbox import post_mail
from apps.jobs.models import Job, Outbox
from apps.jobs.selectors.jobs import worker_last_seen
from tests.factories import AT
from tests.jobs.factories import make_job
from tests.jobs.kinds import effects
from tests.jobs.workers import wait_until

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]

SEED = 20_261_120
PARTS = ["part 0", "part 1", "part 2", "part 3", "end"]


def all_ended() -> bool:
    return not Job.objects.open().exists()


def claims() -> int:
    return Event.objects.filter(action__in=["job.started", "job.taken_over"]).count()


@pytest.mark.long
def test_forty_jobs_take_effect_exactly_once_through_eight_kills(workers):
    chance = random.Random(SEED)
    jobs = [
        enqueue(
            kind="test.chunks",
            params={"parts": 4, "pause": 0.15},
            project=None,
            actor=None,
            at=AT,
            max_attempts=30,
        )
        for _ in range(40)
    ]

    for _ in range(8):
        before = claims()
        worker = workers.start()
        wait_until(lambda before=before: claims() > before, "work")
        time.sleep(chance.uniform(0.0, 0.8))
        workers.kill(worker)
    workers.start()
    wait_until(all_ended, "the end of all jobs")

    ended = {job.pk: Job.objects.get(pk=job.pk).state for job in jobs}
    assert Job.objects.filter(attempt__gt=1).count() >= 4, "the kills hit nobody"
    assert ended == {job.pk: "done" for job in jobs}
    assert {job.pk: effects(job.pk) for job in jobs} == {job.pk: PARTS for job in jobs}


def test_a_worker_frozen_past_its_lease_loses_the_job_and_writes_nothing_late(workers):
    job = make_job("test.chunks", parts=4, pause=1.0)
    frozen = workers.start()
    wait_until(lambda: len(effects(job.pk)) == 1, "the first part")
    time.sleep(0.3)
    workers.signal(frozen, signal.SIGSTOP)

    workers.start()
    wait_until(lambda: Job.objects.get(pk=job.pk).attempt == 2, "the take-over")
    workers.signal(frozen, signal.SIGCONT)
    wait_until(all_ended, "the end")
    time.sleep(2)

    job.refresh_from_db()
    assert (job.state, effects(job.pk)) == ("done", PARTS)


def test_a_job_that_kills_its_worker_is_given_up_after_three_attempts(workers):
    job = make_job("test.poison")
    for _ in range(3):
        worker = workers.start()
        wait_until(lambda worker=worker: worker.poll() is not None, "the end of the worker")
    workers.start()
    wait_until(all_ended, "the end")

    job.refresh_from_db()
    assert (job.state, job.attempt) == ("failed", 3)
    assert job.error == "The worker stopped in the middle of this job, in attempt 3 of 3."


def test_a_job_whose_worker_is_killed_is_ended_by_another(workers):
    job = make_job("test.chunks", parts=4, pause=0.5)
    killed = workers.start()
    wait_until(lambda: len(effects(job.pk)) == 1, "the first part")

    workers.kill(killed)
    workers.start()
    wait_until(all_ended, "the end")

    job.refresh_from_db()
    assert (job.state, job.attempt, effects(job.pk)) == ("done", 2, PARTS)


def test_a_job_that_takes_too_long_is_tried_again_and_says_why(workers):
    job = make_job("test.chunks", parts=9, pause=0.5)
    workers.environment["KARAT_JOB_TIME_LIMIT"] = "1"
    worker = workers.start()

    wait_until(lambda: Job.objects.get(pk=job.pk).error != "", "the end of the attempt")

    job.refresh_from_db()
    assert (job.state, job.attempt, job.error) == ("queued", 1, "It took longer than 1 s.")
    assert worker.poll() is None


def test_a_job_that_never_ends_ends_with_its_worker(workers):
    job = make_job("test.endless")
    workers.environment["KARAT_JOB_TIME_LIMIT"] = "1"
    worker = workers.start()

    wait_until(lambda: worker.poll() is not None, "the end of the worker")

    job.refresh_from_db()
    assert (job.state, job.error) == ("running", "It took longer than 1 s.")


def test_mail_and_seals_do_not_wait_for_a_job(workers):
    job = make_job("test.chunks", parts=2, pause=20)
    workers.start()
    wait_until(lambda: Job.objects.get(pk=job.pk).state == "running", "the begin of the job")

    mail = post_mail(to=["a@example.org"], subject="S", body="B", project=None, at=AT)
    wait_until(lambda: Outbox.objects.get(pk=mail.pk).state == "sent" and not has_unsealed(), "mail and seals")

    assert Job.objects.get(pk=job.pk).state == "running"


def test_doubled_nudges_and_a_pickle_leave_the_worker_alive_and_the_effect_single(workers, tmp_path):
    trap = tmp_path / "trap"
    job = make_job("test.chunks", parts=4)
    with workers.sender() as app:
        with app.producer_pool.acquire() as producer:
            producer.publish(
                {"trap": _Trap(str(trap))}, serializer="pickle", routing_key="karat", exchange="", declare=[]
            )
        for _ in range(5):
            app.send_task("jobs.run", [job.pk])
    worker = workers.start()

    wait_until(all_ended, "the end")
    second = make_job("test.chunks", parts=4)
    wait_until(all_ended, "the second end")

    assert worker.poll() is None
    assert not trap.exists()
    assert "pickle" in workers.logs()
    assert (effects(job.pk), effects(second.pk)) == (PARTS, PARTS)


def test_a_worker_shows_itself(workers):
    assert worker_last_seen() is None

    workers.start()

    wait_until(lambda: worker_last_seen() is not None, "the first sign of life")
    assert worker_last_seen() < 10


class _Trap:
    """Writes a file when it is unpickled."""

    def __init__(self, path: str) -> None:
        self.path = path

    def __reduce__(self):
        return (Path.touch, (Path(self.path),))
