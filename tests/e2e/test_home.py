"""Home in a browser: a lead's four questions, an annotator's own work, on a screen and on a phone."""

import re

import pytest
from playwright.sync_api import expect

from tests.e2e import looking, world
from tests.e2e.waiting import go, press, turned
from tests.e2e.worlds import shared

pytestmark = pytest.mark.django_db(transaction=True)
small_world = shared(world.build)


def test_a_lead_reads_four_questions_and_opens_the_most_pressing_row_with_its_letter(
    small_world, page, signed_in, witness
):
    signed_in(small_world.lead)
    home = f"/p/{small_world.project.slug}/"
    go(page, home)

    for question in ("What next?", "How far are we?", "Who needs me?", "Is it good enough?"):
        expect(page.get_by_role("heading", name=question)).to_be_visible()
    first = page.locator(".next-list a").first
    expect(first).to_have_class(re.compile("primary"))
    expect(page.locator(".button.primary")).to_have_count(1)
    looking.look_at(page, "home-lead")
    looking.clean_in_both_themes(page)
    assert looking.faults_at_width(page, 390) == []

    page.set_viewport_size(looking.WIDE)
    address = first.get_attribute("href")
    with turned(page):
        press(page, first.get_attribute("data-key"))
    assert page.url.endswith(address)
    assert witness.drain() == []


def test_an_annotator_sees_their_work_and_nothing_else(small_world, page, signed_in):
    signed_in(small_world.annotator)
    go(page, f"/p/{small_world.project.slug}/")

    expect(page.get_by_role("heading", level=1)).to_have_text("Your tasks")
    expect(page.get_by_text("Is it good enough?")).to_have_count(0)
    expect(page.get_by_text("Who needs me?")).to_have_count(0)
    looking.look_at(page, "home-annotator")
    looking.clean_in_both_themes(page)
    assert looking.faults_at_width(page, 390) == []
