"""Before its scripts have run a page answers nothing, and loses nothing either; then it says that it is ready."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, Route, expect

from apps.triples.models import Triple
from tests.e2e.triples_world import make_handbook
from tests.e2e.waiting import READY, settled, turned

pytestmark = pytest.mark.django_db(transaction=True)

SUPPLIER = re.compile(r"/find/.*supplier")


@pytest.fixture
def bench(page, signed_in) -> Page:
    team = make_handbook()
    signed_in(team.jun)
    page.bench = f"{team.home}/triples/bench/?q=backup+encryption&block={team.block('SEC-4.2').pk}"
    return page


def slowly(page: Page, address: str) -> Callable[[], None]:
    """Opens a page whose scripts do not arrive. What it returns lets them."""
    held: list[Route] = []
    page.route("**/js/shell.js", lambda route: held.append(route), times=1)
    with page.expect_request("**/js/shell.js"):
        page.goto(address, wait_until="commit")
    expect(page.locator("#main")).to_be_visible()
    assert page.locator(READY).count() == 0
    return lambda: held[0].continue_()


def test_what_is_done_before_the_scripts_is_answered_in_its_order_and_a_form_is_sent_once(bench):
    a_form_is_sent_once_and_words_save_themselves(bench)
    keys_and_clicks_are_answered_in_their_order(bench)


def keys_and_clicks_are_answered_in_their_order(bench):
    let = slowly(bench, bench.bench)
    bench.keyboard.press("m")
    bench.keyboard.press("ArrowDown")
    bench.get_by_role("button", name="Mark selection").click()
    bench.keyboard.press("/")
    bench.keyboard.type("keys")
    expect(bench.locator("#read mark")).to_have_count(0)
    let()

    expect(bench.locator("#read mark")).to_have_count(1)
    expect(bench.locator("#id_q_find")).to_be_focused()
    expect(bench.locator("#id_q_find")).to_have_value("keys")
    settled(bench)

    # From now on the page announces what it asks the server for.
    held: list[Route] = []
    bench.route(SUPPLIER, lambda route: held.append(route))  # what was typed before may still be asked for
    with bench.expect_request(SUPPLIER):
        bench.locator("#id_q_find").fill("supplier")
    expect(bench.locator("#results")).to_have_attribute("aria-busy", "true")
    held[0].continue_()
    expect(bench.locator("#results li").first).to_contain_text("9.3 Supplier")
    expect(bench.locator("#results")).not_to_have_attribute("aria-busy", "true")


def a_form_is_sent_once_and_words_save_themselves(bench):
    let = slowly(bench, bench.bench)
    question = bench.get_by_label("Question", exact=False).first
    question.fill("What is kept?")
    bench.keyboard.press("Control+Enter")
    with turned(bench):
        let()
    expect(bench.locator("#notices")).to_contain_text("T-0001 is saved")
    assert Triple.objects.get().current.question == "What is kept?"

    let = slowly(bench, bench.bench)
    question.fill("What is kept where?")
    let()
    question.blur()
    expect(bench.locator("[data-saved]")).to_contain_text("saved at")
    assert Triple.objects.latest("pk").current.question == "What is kept where?"
