"""A lead asks who is favoured by what was judged and plans a round of what matters first; a viewer takes negatives."""

import json
import re

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from apps.accounts.enums import Role
from apps.retrieval.models import Pool
from tests.e2e import looking, world
from tests.e2e.waiting import go, turned, worked
from tests.e2e.worlds import shared
from tests.factories import make_member

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]

small_world = shared(world.build)


def test_from_a_pool_to_what_to_judge_first_and_to_negatives(page, small_world, signed_in):
    project = small_world.project
    version = project.evaluations.first().version
    pool = version.rounds.order_by("number").first().pool
    signed_in(small_world.lead)

    go(page, reverse("retrieval:pool", args=[project.slug, pool.pk]))
    with turned(page):
        page.get_by_role("link", name="Bias").first.click()
    looking.clean(page, "bias-reports")
    with turned(page):
        page.get_by_role("button", name="Start bias report").click()
    page.get_by_text("waiting for a worker").wait_for()
    worked(page)
    page.get_by_role("heading", name="Unjudged results").wait_for()
    looking.clean(page, "bias")

    page.get_by_role("spinbutton", name="Judge these first").fill("7")
    with turned(page):
        page.get_by_role("button", name="Plan a round").click()
    expect(page).to_have_url(re.compile(r"/judging/rounds/new/\?pool="))
    chosen = Pool.objects.latest("pk")
    assert page.get_by_label("Pool", exact=False).first.input_value() == str(chosen.pk)
    assert 1 <= chosen.entry_count <= 7

    signed_in(make_member(project, Role.VIEWER))  # the lead judges too, so negatives wait until the round is closed
    go(page, reverse("goldsets:version", args=[project.slug, version.gold_set.slug, version.number]))
    with turned(page):
        page.get_by_role("link", name="Training negatives").click()
    looking.clean(page, "negatives")
    with page.expect_download() as download:
        page.get_by_role("link", name="JSONL").click()
    lines = download.value.path().read_text().splitlines()
    assert {one["kind"] for line in lines for one in json.loads(line)["negatives"]} == {"hard", "easy"}
