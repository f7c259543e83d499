"""A worker whose database is started again in the middle of a job."""

import psycopg
import pytest
from django.conf import settings
from django.db import connection
from django.utils import timezone

from apps.common.database.functions import from_now
from apps.jobs.enums import JobState
from apps.jobs.execution.context import JobContext
from apps.jobs.execution.performing import perform
from apps.jobs.execution.worker import Repeated, sweep
from apps.jobs.models import Job
from apps.jobs.selectors.job_kinds import job_kind
from tests.jobs.factories import make_job
from tests.jobs.kinds import effect, effects
from tests.jobs.workers import database_url

pytestmark = [pytest.mark.postgres, pytest.mark.django_db(transaction=True)]


def drop_connection() -> None:
    """Another session ends ours, as a server does that stops."""
    with psycopg.connect(database_url(), autocommit=True) as operator:
        operator.execute("SELECT pg_terminate_backend(%s, 5000)", [connection.connection.info.backend_pid])


@job_kind("test.cut", title="Loses its connection in its first attempt")
def cut(ctx: JobContext) -> dict:
    with ctx.finish():
        effect(ctx, "all")
        if Job.objects.get(pk=ctx.job_id).attempt == 1:
            drop_connection()
            effect(ctx, "never written")
    return {}


def test_a_job_that_lost_its_connection_is_done_once_by_the_next_attempt():
    job = make_job("test.cut")

    first = perform(job.pk, worker="test", clock=timezone.now, with_heartbeat=False)
    Job.objects.filter(pk=job.pk).update(next_at=from_now(-1))
    second = perform(job.pk, worker="test", clock=timezone.now, with_heartbeat=False)

    assert (first.state, second.state) == (JobState.QUEUED, JobState.DONE)
    assert "terminating connection" in first.error
    assert effects(job.pk) == ["all"]


def test_the_sweep_after_a_lost_connection_works_again(caplog):
    assert settings.DATABASES["default"]["CONN_HEALTH_CHECKS"]
    found = []

    def swept() -> None:
        Job.objects.exists()
        if not found:
            found.append("lost")
            drop_connection()
        sweep("test")
        found.append("swept")

    work = Repeated(swept, every=0)
    work.do()
    work.do()

    assert found == ["lost", "swept"]
    assert "could not reach the database: terminating connection" in caplog.text
