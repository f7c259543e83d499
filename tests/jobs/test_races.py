"""Two workers at one job, on two connections."""

import threading

import pytest
from django.db import connection, transaction
from django.utils import timezone

from apps.common.database.functions import from_now
from apps.jobs.execution.context import JobContext, LeaseLost
from apps.jobs.execution.performing import claim, extend_lease, perform
from apps.jobs.models import Job
from tests.factories import AT
from tests.jobs.factories import make_job
from tests.jobs.kinds import effect, effects
from tests.races import at_once

pytestmark = pytest.mark.django_db(transaction=True)


def test_of_eight_workers_one_claims_the_job():
    for _ in range(5):
        job = make_job()

        claimed = at_once(*(lambda name=f"w{n}", job=job: claim(job.pk, worker=name, at=AT) for n in range(8)))

        assert sorted(type(answer).__name__ for answer in claimed) == ["Job"] + ["NoneType"] * 7
        assert Job.objects.get(pk=job.pk).attempt == 1


def test_of_eight_workers_one_takes_over_a_lapsed_job():
    job = make_job()
    claim(job.pk, worker="gone", at=AT)
    Job.objects.filter(pk=job.pk).update(lease_expires_at=from_now(-1))

    claimed = at_once(*(lambda name=f"w{n}": claim(job.pk, worker=name, at=AT) for n in range(8)))

    assert sorted(type(answer).__name__ for answer in claimed) == ["Job"] + ["NoneType"] * 7
    assert Job.objects.get(pk=job.pk).attempt == 2


def test_eight_nudges_at_once_have_one_effect():
    job = make_job("test.chunks", parts=3)

    at_once(*(lambda: perform(job.pk, worker="w", clock=timezone.now) for _ in range(8)))

    assert Job.objects.get(pk=job.pk).state == "done"
    assert effects(job.pk) == ["part 0", "part 1", "part 2", "end"]


@pytest.mark.postgres
def test_a_take_over_waits_for_a_part_that_is_about_to_commit_and_then_finds_the_job_alive():
    """The old holder has locked the row; the claim of the other comes second, and what commits extends the lease."""
    job = make_job("test.chunks", parts=1)
    old = JobContext(claim(job.pk, worker="old", at=AT), clock=timezone.now)
    Job.objects.filter(pk=job.pk).update(lease_expires_at=from_now(-1))
    locked, claimed = threading.Event(), []

    def take_over():
        locked.wait(10)
        claimed.append(claim(job.pk, worker="new", at=AT))
        connection.close()

    thread = threading.Thread(target=take_over)
    thread.start()
    with old.chunk("part:0"):
        effect(old, "part 0")
        old._lock()
        locked.set()
        thread.join(0.5)
        assert thread.is_alive(), "the claim has to wait for the lock"
    thread.join(10)
    assert claimed == [None]

    Job.objects.filter(pk=job.pk).update(lease_expires_at=from_now(-1))
    new = JobContext(claim(job.pk, worker="new", at=AT), clock=timezone.now)
    with new.chunk("part:0") as fresh:
        assert fresh is False
    assert effects(job.pk) == ["part 0"]


@pytest.mark.postgres
def test_the_lease_is_extended_while_a_long_part_is_written():
    """A heartbeat must not wait for the work's own transaction."""
    job = make_job("test.chunks", parts=1)
    ctx = JobContext(claim(job.pk, worker="w", at=AT), clock=timezone.now)

    with ctx.chunk("part:0"):
        effect(ctx, "part 0")
        answer = at_once(lambda: extend_lease(job.pk, ctx.attempt))

    assert answer == [True]


@pytest.mark.postgres
def test_a_part_written_after_the_take_over_is_rolled_back():
    job = make_job("test.chunks", parts=1)
    old = JobContext(claim(job.pk, worker="old", at=AT), clock=timezone.now)

    def take_over():
        Job.objects.filter(pk=job.pk).update(lease_expires_at=from_now(-1))
        return claim(job.pk, worker="new", at=AT).attempt

    chunk = old.chunk("part:0")
    chunk.__enter__()
    effect(old, "late")
    taken = at_once(take_over)

    with pytest.raises(LeaseLost):
        chunk.__exit__(None, None, None)

    assert taken == [2]
    assert effects(job.pk) == []


@pytest.mark.postgres
def test_the_server_ends_the_transaction_of_a_frozen_worker(settings):
    settings.JOB_LEASE_SECONDS = 0.1
    ctx = JobContext(claim(make_job().pk, worker="w", at=AT), clock=timezone.now)

    with transaction.atomic():
        ctx._open()
        with connection.cursor() as cursor:
            cursor.execute("SHOW idle_in_transaction_session_timeout")
            (limit,) = cursor.fetchone()

    assert limit == "200ms"
