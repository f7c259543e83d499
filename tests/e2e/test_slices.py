"""A quarter's slice is drawn, a run is scored on it, and a gate holds the system to it."""

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from apps.evaluation.models import Evaluation
from apps.gates.models import GateResult
from tests.e2e import looking
from tests.e2e.waiting import go, press, turned, worked
from tests.evaluation.factories import BAD, GOOD, make_scene, qrels_of, score

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]


@pytest.fixture
def scene(transactional_db):
    """Twenty dev queries; one run is right on all of them and one on none."""
    qrels = qrels_of(20)
    runs = {"good": dict.fromkeys(qrels, GOOD), "bad": dict.fromkeys(qrels, BAD)}
    made = make_scene(qrels=qrels, runs=runs, test_share=0.0)
    for tag in made.runs:
        score(made, tag, split="dev")
    return made


def looks_well(page, name):
    """Axe finds nothing in either theme, and at no width the page scrolls sideways."""
    looking.look_at(page, name, full=False)
    looking.clean_in_both_themes(page)
    assert [fault for width in (390, 1024, 1280) for fault in looking.faults_at_width(page, width)] == []
    page.set_viewport_size(looking.WIDE)


def test_a_lead_draws_a_slice_scores_a_run_on_it_and_gates_on_it(page, signed_in, scene):
    slug, heading = scene.project.slug, page.get_by_role("heading", level=1)
    signed_in(scene.lead)
    slices = reverse("evaluation:slices", args=[slug])
    go(page, slices)
    expect(heading).to_contain_text("No questions are drawn for")

    with turned(page):
        press(page, "d")
    expect(page.locator("tr[data-item]")).to_have_count(5)
    go(page, slices)
    expect(heading).to_contain_text("This quarter’s 5 questions put the 2 runs in the same order as all 20 do.")
    looks_well(page, "slices")

    with turned(page):
        press(page, "r")
    with turned(page):
        page.get_by_role("button", name="Score", exact=True).click()
    worked(page)
    expect(page.locator(".score-table tbody tr")).to_have_count(2)
    expect(page.locator(".subtitle")).to_contain_text("slice, 5 questions")
    assert set(Evaluation.everything.exclude(slice=None).values_list("slice_size", flat=True)) == {5}

    go(page, slices)
    with turned(page):
        page.get_by_role("link", name="Use it in a gate").click()
    page.get_by_label("Name").fill("Weekly")
    page.get_by_label("Measure").fill("nDCG@10")
    page.get_by_label("Threshold", exact=True).fill("0.9")
    expect(page.get_by_label("Queries")).to_have_value("slice=rotating")
    with turned(page):
        page.get_by_role("button", name="Create gate").click()
    worked(page)
    go(page, slices)
    expect(page.get_by_role("row", name="Weekly Rotating")).to_be_visible()
    assert set(GateResult.objects.values_list("n", flat=True)) == {5}
