"""Planning a round with everything in it, and a pilot on the page of its round."""

import pytest
from playwright.sync_api import expect

from apps.judging.models import PilotDecision, Round
from tests.e2e.waiting import go, settled, turned
from tests.factories import lead_of
from tests.judging.factories import judge_all, people_of
from tests.judging.world import make_world

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.slow
def test_a_round_with_everything_is_planned_and_its_pilot_opened(page, signed_in, look_at, axe_clean, witness):
    world = make_world(blocks=6, annotators=3, overlap=0.5)
    signed_in(lead_of(world.project))
    go(page, f"/p/{world.project.slug}/judging/rounds/new/")
    for summary in ("Check the quality of each annotator", "A pilot first", "One more judge where people differ"):
        page.get_by_text(summary).click()
    page.get_by_text("Who may judge what").click()
    page.get_by_label("Judge again pairs that have a grade").check()
    page.get_by_label("Pairs judged again").fill("10")
    page.get_by_label("Checks of your own").fill("query_id,block_id,grade\nQ009,sec-4.2-00,3")
    page.get_by_label("Queries in the pilot").fill("1")
    page.get_by_label("Add a judge if α is below").fill("0.6")
    expect(page.locator("#plan")).to_contain_text("in the pilot")
    expect(page.locator("#plan")).to_contain_text("checks3")
    settled(page)
    axe_clean(page)
    look_at(page, "judging-plan-whole")

    with turned(page):
        page.get_by_role("button", name="Open the round").click()
    expect(page.get_by_role("heading", name="Pilot")).to_be_visible()
    round_ = Round.objects.latest("pk")
    for person in people_of(round_):
        judge_all(round_, person, lambda seat: 2)
    page.reload()
    expect(page.get_by_text("The pilot is judged")).to_be_visible()
    axe_clean(page)
    look_at(page, "judging-pilot")
    page.get_by_label("Reason").fill("One grade only, and it is right.")
    with turned(page):
        page.get_by_role("button", name="Open the rest").click()
    expect(page.get_by_text("One grade only, and it is right.")).to_be_visible()

    assert PilotDecision.objects.get().decided_by == lead_of(world.project)
    assert witness.drain() == []
