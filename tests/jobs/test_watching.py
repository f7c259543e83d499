"""What a monitor is told of jobs, workers and the outbox."""

from datetime import timedelta
from math import inf

import pytest
from django.db import connection
from django.db.models.functions import Now
from django.utils import timezone

from apps.common.database.functions import from_now
from apps.jobs.enums import DeliveryKind, DeliveryState, JobState
from apps.jobs.execution.performing import perform
from apps.jobs.execution.sweep import beat
from apps.jobs.models import Job, Outbox, WorkerBeat
from apps.jobs.selectors.watching import job_metrics, outbox_metrics, worker_metrics
from tests.factories import AT
from tests.jobs.factories import make_job

pytestmark = pytest.mark.django_db


def values(metrics) -> dict[str, float]:
    return {
        " ".join([metric.name, *sample.labels.values()]): sample.value
        for metric in metrics
        for sample in metric.samples
    }


def test_jobs_are_counted_by_state():
    make_job(), make_job()
    perform(make_job().pk, worker="w", clock=timezone.now, with_heartbeat=False)
    perform(make_job("test.refuses").pk, worker="w", clock=timezone.now, with_heartbeat=False)

    found = values(job_metrics(AT))

    assert {name: value for name, value in found.items() if name.startswith("karat_jobs ")} == {
        "karat_jobs queued": 2,
        "karat_jobs running": 0,
        "karat_jobs done": 1,
        "karat_jobs failed": 1,
        "karat_jobs cancelled": 0,
    }


def test_the_oldest_queued_job_has_waited_by_the_clock_of_the_database():
    Job.objects.filter(pk=make_job().pk).update(created_at=from_now(-100))
    Job.objects.filter(pk=make_job().pk).update(created_at=from_now(-300))

    waited = values(job_metrics(AT))["karat_jobs_oldest_queued_seconds"]

    assert waited == pytest.approx(300, abs=60)
    assert waited >= 300


def test_a_job_that_is_to_be_tried_again_later_does_not_wait_yet():
    Job.objects.filter(pk=make_job().pk).update(created_at=from_now(-300), next_at=from_now(60))

    assert values(job_metrics(AT))["karat_jobs_oldest_queued_seconds"] == 0


def test_without_jobs_nothing_waits():
    found = values(job_metrics(AT))

    assert set(found) == {"karat_jobs_oldest_queued_seconds", *(f"karat_jobs {state}" for state in JobState.values)}
    assert set(found.values()) == {0}


def test_a_worker_that_was_never_seen_was_seen_an_infinite_time_ago():
    assert values(worker_metrics(AT)) == {"karat_worker_last_seen_seconds": inf}


def test_the_last_worker_counts():
    beat("one"), beat("two")
    WorkerBeat.objects.filter(worker="one").update(seen_at=from_now(-5_000))

    assert values(worker_metrics(AT))["karat_worker_last_seen_seconds"] < 5_000


def test_the_outbox_tells_what_waits_and_what_failed():
    for state, number in ((DeliveryState.WAITING, 2), (DeliveryState.FAILED, 1), (DeliveryState.SENT, 4)):
        sent_at = AT if state == DeliveryState.SENT else None
        rows = {"kind": DeliveryKind.MAIL, "payload": {}, "next_at": AT, "created_at": AT, "sent_at": sent_at}
        Outbox.objects.bulk_create(Outbox(state=state, **rows) for _ in range(number))

    assert values(outbox_metrics(AT)) == {"karat_outbox waiting": 2, "karat_outbox failed": 1}


def plan_of(sql: str, params: list) -> str:
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN QUERY PLAN {sql}", params)
        return "\n".join(str(row[-1]) for row in cursor.fetchall())


def test_states_are_counted_in_an_index_and_no_row_is_read():
    if connection.vendor != "sqlite":
        pytest.skip("PostgreSQL chooses by the number of rows")

    jobs = plan_of("SELECT state, COUNT(*) FROM jobs_job GROUP BY state", [])
    unsent = plan_of("SELECT state, COUNT(*) FROM jobs_outbox WHERE state IN (%s, %s) GROUP BY state", ["a", "b"])

    assert "USING COVERING INDEX job_by_state" in jobs
    assert "USING COVERING INDEX outbox_by_state" in unsent


def test_time_since_is_never_negative_when_a_clock_was_set_back():
    Job.objects.filter(pk=make_job().pk).update(created_at=Now() + timedelta(hours=1))

    assert values(job_metrics(AT))["karat_jobs_oldest_queued_seconds"] == 0
