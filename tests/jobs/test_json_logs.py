"""What a job logs names the job, in the process that does it."""

import json

import pytest

from apps.jobs.enums import JobState
from apps.jobs.models import Job
from tests.factories import make_project
from tests.jobs.factories import make_job
from tests.jobs.workers import wait_until

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]


def test_lines_of_a_job_name_it_its_attempt_and_its_project(workers):
    workers.environment |= {"KARAT_LOG_FORMAT": "json", "KARAT_LOG_LEVEL": "WARNING"}
    project = make_project()
    job = make_job("test.breaks", project=project)
    Job.objects.update(max_attempts=1)
    workers.start()

    wait_until(lambda: Job.objects.get(pk=job.pk).state == JobState.FAILED, "the end of the job")

    lines = [json.loads(line) for line in workers.logs().splitlines() if line.startswith("{")]
    (line,) = [line for line in lines if line["logger"] == "apps.jobs.execution.performing"]
    assert (line["request_id"], line["job"], line["project"]) == (f"job-{job.pk}-1", job.pk, project.slug)
    assert line["message"] == f"Job {job.pk} (test.breaks) failed in attempt 1."
    assert line["exception"].endswith("ValueError: seven")
