"""Killing the worker while it loads the demo leaves whole chapters; the next attempt goes on behind them."""

import pytest
from django.utils import timezone

from apps.dashboard.actions.projects import request_demo
from apps.dashboard.execution.demo.loader import CHAPTERS
from apps.jobs.models import Job, JobChunk
from tests.dashboard.test_demo import test_the_demo_shows_the_whole_workflow as tells_the_whole_story
from tests.factories import make_user
from tests.jobs.workers import wait_until

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]


def test_the_demo_is_whole_and_single_after_kills(workers):
    job = request_demo(host=make_user(is_operator=True), at=timezone.now())

    for chapters in (1, 4):
        worker = workers.start()
        wait_until(lambda chapters=chapters: has_chapters(job, chapters), "the telling")
        workers.kill(worker)
    workers.start()
    wait_until(lambda: Job.objects.get(pk=job.pk).is_ended, "the end of the job")
    workers.stop()

    job.refresh_from_db()
    assert (job.state, job.attempt) == ("done", 3)
    assert JobChunk.objects.filter(job=job).count() == len(CHAPTERS)
    tells_the_whole_story(job.project)


def has_chapters(job, chapters):
    assert Job.objects.get(pk=job.pk).state != "done", "the kill came too late"
    return JobChunk.objects.filter(job=job).count() >= chapters
