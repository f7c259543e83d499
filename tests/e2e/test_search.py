"""The search box by keyboard: `/`, words, arrows, enter; a page without scripts; a page's own find keeps its key."""

import re

import pytest
from playwright.sync_api import expect

from tests.e2e import looking
from tests.e2e.waiting import go, press, settled, turned
from tests.e2e.worlds import shared
from tests.factories import lead_of, make_project
from tests.retrieval.factories import make_queries, make_run, make_snapshot

pytestmark = pytest.mark.django_db(transaction=True)


def make_handbook():
    project = make_project("Tarnwick Handbook")
    snapshot = make_snapshot(project, {"sec-1": "Backups are kept for thirty days.", "sec-2": "Keys rotate often."})
    make_queries(project, {"Q1": "how long are backups kept", "Q10": "who rotates keys"})
    make_run(project, snapshot)
    return project


project = shared(make_handbook)


@pytest.fixture
def home(page, project, signed_in):
    signed_in(lead_of(project))
    go(page, f"/p/{project.slug}/")
    return page


def test_slash_words_arrows_and_enter_open_what_is_meant(home, project, witness, new_context, live_server):
    field = home.get_by_role("searchbox", name="Search this project")
    press(home, "/")
    expect(field).to_be_focused()
    home.keyboard.type("Q10")
    best = home.get_by_role("search").get_by_role("link", name="Q10 who rotates keys")
    expect(best).to_be_visible()
    looking.looks_well(home, "search-typing", full=False, widths=())

    press(home, "ArrowDown")
    expect(best).to_be_focused()
    press(home, "Escape")
    expect(field).to_be_focused()
    press(home, "Escape")
    expect(best).to_be_hidden()
    press(home, "/", "ArrowDown")
    with turned(home):
        home.keyboard.press("Enter")
    expect(home).to_have_url(re.compile(r"/queries/\d+/$"))

    press(home, "/")
    home.keyboard.type("rotate")
    with turned(home):
        home.keyboard.press("Enter")
    expect(home.get_by_role("heading", name="Found for “rotate”")).to_be_visible()
    for kind in ("Queries", "Passages"):
        expect(home.get_by_role("main").get_by_role("heading", name=kind)).to_be_visible()
    looking.looks_well(home, "search")

    home.set_viewport_size(looking.NARROW)
    box = home.get_by_role("searchbox", name="Search this project").bounding_box()
    assert box is not None
    assert (box["width"] > 350, box["height"] >= 44) == (True, True)
    home.set_viewport_size(looking.WIDE)

    # A page with a find of its own keeps the key.
    go(home, f"/p/{project.slug}/triples/")
    press(home, "/")
    expect(home.get_by_role("searchbox", name="Question or number")).to_be_focused()
    press(home, "Escape", "?")
    expect(home.get_by_role("dialog").get_by_text("Find anything in this project")).to_be_hidden()
    settled(home)
    assert witness.drain() == []
    it_works_without_scripts(new_context, live_server, project)


def it_works_without_scripts(new_context, live_server, project):
    context = new_context(java_script_enabled=False)
    looking.sign_in(context, live_server.url, lead_of(project))
    page = context.new_page()
    page.goto(f"/p/{project.slug}/")
    page.get_by_role("searchbox", name="Search this project").fill("backups")
    page.keyboard.press("Enter")

    page.get_by_role("main").get_by_role("link", name="sec-1").click()
    expect(page.get_by_role("heading", name="sec-1")).to_be_visible()
