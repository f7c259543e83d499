"""A job, watched in the browser until it ends; and the history it leaves."""

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from apps.common.database.functions import from_now
from apps.jobs.execution import sweep
from apps.jobs.execution.context import JobContext
from apps.jobs.execution.performing import claim
from apps.jobs.models import Job
from tests.e2e import looking
from tests.e2e.waiting import go, settled, turned
from tests.factories import AT, lead_of, make_project
from tests.jobs.factories import make_job
from tests.running_jobs import run_jobs

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def project():
    return make_project("Tarnwick Handbook")


@pytest.fixture(autouse=True)
def _lead_and_worker(signed_in, project):
    signed_in(lead_of(project))
    sweep.beat("one")


def test_a_failed_job_is_run_again_and_one_that_works_is_watched_until_its_end(page, project, witness):
    make_job("test.fails", project=project, actor=lead_of(project))
    run_jobs()
    go(page, f"/p/{project.slug}/jobs/")
    looking.clean(page)
    with turned(page):
        page.get_by_role("link", name="Fails for good").click()
    expect(page.get_by_text("The file holds nothing.")).to_be_visible()
    looking.clean(page)

    with turned(page):
        page.get_by_role("button", name="Retry").click()

    expect(page.get_by_text("waiting for a worker")).to_be_visible()
    with turned(page):
        page.get_by_role("button", name="Cancel this job").click()
    expect(page.get_by_text("cancelled", exact=True)).to_be_visible()

    go(page, f"/p/{project.slug}/audit/")
    looking.clean(page)
    page.get_by_label("Action").select_option("job.retried")
    with turned(page):
        page.get_by_role("button", name="Show").click()
    expect(page.locator("tbody tr")).to_have_count(1)
    expect(page.locator("tbody tr")).to_contain_text("failed")

    job = make_job("test.chunks", project=project, actor=lead_of(project), parts=4)
    page.clock.install()
    go(page, f"/p/{project.slug}/jobs/{job.pk}/")
    expect(page.get_by_text("waiting for a worker")).to_be_visible()
    looking.clean(page)

    ctx = JobContext(claim(job.pk, worker="one", at=AT), clock=timezone.now)
    Job.objects.filter(pk=job.pk).update(started_at=from_now(-30))
    ctx.progress(3, 4, "part 3")
    expect(page.get_by_text("3 of 4, 10 s left")).to_be_visible()
    expect(page.get_by_role("progressbar")).to_have_attribute("value", "75")

    with ctx.finish() as result:
        result["blocks_read"] = 1_400
    expect(page.get_by_text("done", exact=True)).to_be_visible()
    expect(page.get_by_text("Blocks read")).to_be_visible()
    expect(page.get_by_role("button", name="Cancel this job")).to_have_count(0)
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.clock.run_for(60_000)
    settled(page)
    assert asked == []
    assert witness.drain() == []
