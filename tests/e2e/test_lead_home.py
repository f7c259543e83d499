"""A lead's morning in a browser: how far are we, is it good enough, who needs me, and what comes next."""

import re

import pytest
from playwright.sync_api import Page, expect

from apps.accounts.enums import Role
from apps.gates.actions import create_gate
from tests.e2e import looking
from tests.e2e.waiting import go, press, turned
from tests.e2e.worlds import shared
from tests.evaluation.factories import Scene, make_scene, score
from tests.factories import AT
from tests.judging.factories import judge_all, make_round, people_of
from tests.retrieval.factories import make_pool

pytestmark = pytest.mark.django_db(transaction=True)

LOW = """() => [...document.querySelectorAll("main .next-list .button")]
  .filter((one) => one.getBoundingClientRect().height < 43.5).map((one) => one.outerHTML)"""


def make_morning() -> Scene:
    """A gate that fails, a run without a score, and a round that is full of grades on which two people disagree."""
    scene = make_scene(queries=6, test_share=0)
    facts = {"name": "Release", "figure": "nDCG@10", "at_least": 0.99}
    base = scene.runs["base"]
    create_gate(gold_set=scene.version.gold_set, system_id=base.system_id, facts=facts, actor=scene.lead, at=AT)
    score(scene, "base")
    pool = make_pool(scene.project, scene.snapshot, run_ids=[base.pk])
    round_ = make_round(scene.project, pool=pool, annotators=2, overlap=1.0, judges=2)
    for person, grade in zip(people_of(round_), (0, 3), strict=True):
        judge_all(round_, person, lambda seat, grade=grade: grade, active_ms=40_000)
    return scene


scene = shared(make_morning)


def part(page: Page, question: str):
    """The part of the page below one of the four questions."""
    return page.get_by_role("region", name=question)


def titles(page: Page) -> list[str]:
    return page.locator(".next-list b").all_inner_texts()


def test_home_answers_the_questions_of_a_lead_on_a_desk_and_a_phone_and_those_of_an_annotator(
    scene, page, signed_in, new_context, live_server, witness
):
    signed_in(scene.lead)
    go(page, f"/p/{scene.project.slug}/")
    assert titles(page) == [
        "Gate “Release” failed",
        "Score better on v1",
        "Grades to decide: 6",
        "Close Round 2",
    ]
    expect(part(page, "What next?").get_by_role("link", name="Open the gate")).to_have_class(re.compile("primary"))
    expect(page.locator(".button.primary")).to_have_count(1)
    expect(part(page, "How far are we?")).to_contain_text("12 of 12")
    expect(part(page, "Is it good enough?")).to_contain_text("nDCG@10 is 0.")
    people = part(page, "Who needs me?").locator("tbody tr")
    expect(people).to_have_count(2)
    for row in people.all():
        expect(row.locator("[data-label='Done']")).to_have_text("6")
        expect(row).to_contain_text("0:40")
    looking.looks_well(page, "home-lead-morning", widths=(390, 768, 1024, 1440))

    letters = {"x": "/gates/", "l": "/evaluation/", "a": "/adjudicate/", "e": "/judging/rounds/"}
    for key, address in letters.items():
        go(page, f"/p/{scene.project.slug}/")
        with turned(page):
            press(page, key)
        assert address in page.url
        expect(page.get_by_role("heading", level=1)).to_be_visible()

    an_annotator_sees_their_work_and_nothing_else(scene, page, signed_in)
    assert witness.drain() == []
    on_a_phone_the_rows_are_high_enough_for_a_finger(scene, new_context, live_server)


def on_a_phone_the_rows_are_high_enough_for_a_finger(scene, new_context, live_server):
    phone = new_context(viewport=looking.NARROW, has_touch=True, is_mobile=True)
    looking.sign_in(phone, live_server.url, scene.lead)
    page = phone.new_page()
    go(page, f"/p/{scene.project.slug}/")

    assert page.evaluate(LOW) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= looking.NARROW["width"]
    looking.clean(page)
    page.locator(".next-list .button").first.tap()
    page.wait_for_url("**/gates/**")


def an_annotator_sees_their_work_and_nothing_else(scene, page, signed_in):
    signed_in(scene.project.memberships.filter(role=Role.ANNOTATOR, ended_at=None).first().user)
    go(page, f"/p/{scene.project.slug}/")

    expect(page.get_by_role("heading", level=1)).to_have_text("Your tasks")
    expect(page.get_by_text("Is it good enough?")).to_have_count(0)
    expect(page.get_by_text("Who needs me?")).to_have_count(0)
    looking.looks_well(page, "home-annotator")
