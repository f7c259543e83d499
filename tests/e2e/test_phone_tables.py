"""Tables on a phone: cards that are not cut, with what is pressed high enough for a finger."""

import pytest
from playwright.sync_api import expect

from tests.e2e import looking, world
from tests.e2e.waiting import go
from tests.e2e.worlds import shared
from tests.factories import lead_of
from tests.judging.world import make_world
from tests.retrieval.factories import make_run

pytestmark = pytest.mark.django_db(transaction=True)

CUT = """() => [...document.querySelectorAll(".scroll:has(> .cards)")]
  .filter((box) => box.checkVisibility() && box.scrollWidth > box.clientWidth + 1).map((box) => box.ariaLabel)"""
LOW = """() => [...document.querySelectorAll("main :is(td > a, td label, .select-bar :is(.button, .check))")]
  .filter((one) => one.checkVisibility() && one.getBoundingClientRect().height < 43.5).map((one) => one.outerHTML)"""


def make_busy():
    round_ = make_world(blocks=3, annotators=2, overlap=1.0, judges=2)
    make_run(round_.project, round_.pool.snapshot)
    return round_


round_ = shared(make_busy)
demo = shared(world.build)


def test_tables_are_cards_on_a_phone(new_context, live_server, round_):
    phone = new_context(viewport=looking.NARROW, has_touch=True, is_mobile=True)
    looking.sign_in(phone, live_server.url, lead_of(round_.project))
    page = phone.new_page()
    for path in ("queries/", "jobs/", "audit/", "runs/", f"judging/rounds/{round_.pk}/"):
        go(page, f"/p/{round_.project.slug}/{path}")
        expect(page.locator(".data.cards").first).to_be_visible()
        assert (path, page.evaluate(CUT)) == (path, [])
        assert (path, page.evaluate(LOW)) == (path, [])
        assert page.evaluate("document.documentElement.scrollWidth") <= looking.NARROW["width"]
        looking.clean(page)


def test_drawn_estimates_are_whole_on_a_phone(new_context, live_server, demo):
    phone = new_context(viewport=looking.NARROW, has_touch=True, is_mobile=True)
    looking.sign_in(phone, live_server.url, demo.lead)
    page = phone.new_page()
    for path in ("evaluation/stability/1/", "evaluation/gates/1/", "evaluation/bias/1/", "evaluation/"):
        go(page, f"/p/{demo.project.slug}/{path}")
        drawings = page.locator(".data.cards .chart-cell > svg")
        assert drawings.count() > 0
        outside = "(all, width) => all.filter((one) => one.getBoundingClientRect().right > width).length"
        assert (path, drawings.evaluate_all(outside, looking.NARROW["width"])) == (path, 0)
        assert (path, page.evaluate(CUT)) == (path, [])
        looking.look_at(page, f"phone-{path.replace('/', '-')}")
