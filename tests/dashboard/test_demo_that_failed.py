"""A load of the demo that failed half-way."""

from collections import Counter

import pytest
from django.urls import reverse

from apps.dashboard.actions.projects import request_demo
from apps.dashboard.execution.demo import runs
from apps.dashboard.execution.demo.loader import CHAPTERS
from apps.dashboard.execution.demo.stage import DemoFailed
from apps.goldsets.models import GoldSet
from apps.jobs.models import JobChunk
from apps.judging.models import Judgement
from apps.triples.models import Triple
from tests.dashboard.test_demo import test_the_demo_shows_the_whole_workflow as tells_the_whole_story
from tests.factories import AT, make_user
from tests.running_jobs import run_jobs

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.once, pytest.mark.slow]


def test_a_load_that_failed_leaves_whole_chapters_and_is_run_again_from_its_page(client, monkeypatch):
    host = make_user(is_operator=True)
    client.force_login(host)
    with monkeypatch.context() as broken:
        broken.setattr(runs, "score_runs", fail)
        job = request_demo(host=host, at=AT)
        run_jobs()
    job.refresh_from_db()
    assert (job.state, job.error) == ("failed", "The scores went up in smoke.")
    assert Triple.objects.filter(project=job.project).exists(), "the chapter before"
    assert not GoldSet.objects.exists(), "the chapter that failed"
    assert "loading failed; retry here" in client.get(reverse("dashboard:projects")).text
    told = Counter(Judgement.objects.values_list("round__name", flat=True))

    page = reverse("jobs:job", args=[job.project.slug, job.pk])
    assert "Retry" in client.get(page).text
    client.post(reverse("jobs:retry", args=[job.project.slug, job.pk]))
    run_jobs()

    job.refresh_from_db()
    assert (job.state, JobChunk.objects.filter(job=job).count()) == ("done", len(CHAPTERS))
    assert "its load" not in client.get(reverse("dashboard:projects")).text
    assert Counter(Judgement.objects.values_list("round__name", flat=True))["Spring round"] == told["Spring round"]
    tells_the_whole_story(job.project)


def fail(*args):
    raise DemoFailed("The scores went up in smoke.", code="demo")
