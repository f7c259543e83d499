"""A lead asks who is favoured by what was judged, plans a round of what matters first, and takes negatives home."""

import json

import pytest
from django.urls import reverse
from django.utils import timezone

from apps.accounts.models import Project
from apps.dashboard.demo.actions import request_demo
from apps.jobs.testing import run_jobs
from apps.retrieval.models import Pool
from tests.e2e import looking
from tests.factories import make_user

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]


def test_from_a_pool_to_what_to_judge_first_and_to_negatives(page, signed_in, axe_clean):
    lead = make_user("Petra Lomas", is_operator=True)
    job = request_demo(host=lead, at=timezone.now())
    run_jobs()
    project = Project.objects.get(pk=job.project_id)
    version = project.evaluations.first().version
    pool = version.rounds.order_by("number").first().pool
    signed_in(lead)

    page.goto(reverse("retrieval:pool", args=[project.slug, pool.pk]))
    page.get_by_role("link", name="Bias").first.click()
    axe_clean(page)
    looking.look_at(page, "bias-reports")
    page.get_by_role("button", name="Leave one out").click()
    page.get_by_text("waiting for a worker").wait_for()
    run_jobs()
    page.reload()
    page.get_by_role("heading", name="What nobody judged").wait_for()
    axe_clean(page)
    looking.look_at(page, "bias")

    page.get_by_role("spinbutton", name="Judge these first").fill("7")
    page.get_by_role("button", name="Plan a round").click()
    page.wait_for_url("**/judging/rounds/new/?pool=*")
    chosen = Pool.objects.latest("pk")
    assert page.get_by_label("Pool", exact=False).first.input_value() == str(chosen.pk)
    assert 1 <= chosen.entry_count <= 7

    page.goto(reverse("goldsets:version", args=[project.slug, version.gold_set.slug, version.number]))
    page.get_by_role("link", name="Negatives to train on").click()
    axe_clean(page)
    looking.look_at(page, "negatives")
    with page.expect_download() as download:
        page.get_by_role("link", name="JSONL").click()
    lines = download.value.path().read_text().splitlines()
    assert {one["kind"] for line in lines for one in json.loads(line)["negatives"]} == {"hard", "easy"}
