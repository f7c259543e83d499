"""The promise about crashes, kept by real worker processes: every job takes effect exactly once."""

import os
import random
import signal
import time
from pathlib import Path

import pytest

from apps.audit.models import Event
from apps.jobs.actions.jobs import enqueue
from apps.jobs.models import Job
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


def process_of(job: Job) -> int:
    """The process that does a job."""
    return int(Job.objects.get(pk=job.pk).worker.rpartition(":")[2])


def processes_of(pid: int) -> list[int]:
    """The children of a process, whichever of its threads has forked them."""
    tasks = Path(f"/proc/{pid}/task").iterdir()
    return [int(child) for task in tasks for child in (task / "children").read_text().split()]


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
    frozen = workers.start(concurrency=1)
    wait_until(lambda: len(effects(job.pk)) == 1, "the first part")
    time.sleep(0.3)
    workers.signal(frozen, signal.SIGSTOP)

    workers.start(concurrency=1)
    wait_until(lambda: Job.objects.get(pk=job.pk).attempt == 2, "the take-over")
    workers.signal(frozen, signal.SIGCONT)
    wait_until(all_ended, "the end")
    time.sleep(2)

    job.refresh_from_db()
    assert (job.state, effects(job.pk)) == ("done", PARTS)


def test_a_job_that_kills_its_worker_is_given_up_after_three_attempts(workers):
    job = make_job("test.poison")
    workers.start()

    wait_until(all_ended, "the end")

    job.refresh_from_db()
    assert (job.state, job.attempt) == ("failed", 3)
    assert job.error == "The worker stopped in the middle of this job, in attempt 3 of 3."


def test_the_process_of_a_job_ends_with_its_worker_alone_killed_and_another_takes_the_job(workers):
    job = make_job("test.chunks", parts=4, pause=0.5)
    killed = workers.start()
    wait_until(lambda: len(effects(job.pk)) == 1, "the first part")
    child = process_of(job)

    killed.kill()

    wait_until(lambda: not Path(f"/proc/{child}").exists(), "the end of the job's process")
    workers.start()
    wait_until(all_ended, "the end")
    job.refresh_from_db()
    assert (job.state, effects(job.pk)) == ("done", PARTS)


def test_the_process_of_a_job_that_is_killed_takes_nothing_with_it(workers):
    job = make_job("test.chunks", parts=4, pause=0.5)
    worker = workers.start()
    wait_until(lambda: len(effects(job.pk)) == 1, "the first part")
    child = process_of(job)
    assert child in processes_of(worker.pid)

    os.kill(child, signal.SIGKILL)
    wait_until(all_ended, "the end")

    job.refresh_from_db()
    assert (job.state, job.attempt, effects(job.pk)) == ("done", 2, PARTS)
    assert worker.poll() is None
    wait_until(lambda: processes_of(worker.pid) == [], "the end of all processes of jobs")


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
