"""A filter becomes a set, the set a pilot that opens by itself; and the board says what to add next."""

import pytest
from playwright.sync_api import expect

from apps.accounts.enums import Role
from apps.judging.models import Round
from apps.queries.models import SavedSet
from tests.e2e import looking
from tests.e2e.waiting import go, turned, worked
from tests.factories import lead_of, make_member, make_project
from tests.judging.factories import make_guideline
from tests.queries.factories import make_query, make_source
from tests.retrieval.factories import make_snapshot

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]


@pytest.fixture
def project():
    project = make_project()
    log = make_source(project, name="Search log", target_share=0.8)
    talks = make_source(project, name="Interviews", kind="interview", target_share=0.2)
    for number in range(14):
        hard = number % 2
        kind = {"query_type": "look-up" if number < 9 else "how-to", "difficulty": "hard" if hard else "easy"}
        tags = ["failure:acronym"] if number % 3 == 0 else []
        source = talks if number == 13 else log
        make_query(project, text=f"red key number {number}", domain="access", source=source, tags=tags, **kind)
    return project


def test_a_filter_is_saved_frozen_and_piloted_by_keys(page, signed_in, witness, project):
    make_snapshot(project)
    make_guideline(project)
    for name in ("Mara", "Sef"):
        make_member(project, Role.ANNOTATOR, name=name)
    signed_in(lead_of(project))

    go(page, f"/p/{project.slug}/queries/?difficulty=hard")
    page.get_by_label("Name of this filter").fill("Hard ones")
    with turned(page):
        page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Hard ones")).to_be_visible()
    page.get_by_role("button", name="Freeze").first.press("Enter")
    with turned(page):
        page.get_by_role("dialog").get_by_role("button", name="Freeze").press("Enter")
    expect(page.get_by_text("Its list and the words of its queries never change")).to_be_visible()
    looking.looks_well(page, "query-set")

    with turned(page):
        page.get_by_role("link", name="Draw a sample").press("Enter")
    page.get_by_label("Name").fill("Three of them")
    page.get_by_label("How many").fill("3")
    looking.looks_well(page, "query-sets")
    with turned(page):
        page.get_by_label("How many").press("Enter")
    expect(page.get_by_text("A sample of 3 from set:hard-ones, seed 1.")).to_be_visible()
    assert SavedSet.objects.get(name="Three of them").members.count() == 3

    go(page, f"/p/{project.slug}/queries/sets/{SavedSet.objects.get(name='Hard ones').pk}/")
    with turned(page):
        page.get_by_role("link", name="Start a pilot").press("Enter")
    page.get_by_label("How many queries").fill("4")
    looking.looks_well(page, "new-pilot")
    with turned(page):
        page.get_by_label("How many queries").press("Enter")
    worked(page)
    assert Round.objects.get().state == "open"

    go(page, f"/p/{project.slug}/runs/pools/new/?method=every&questions=set:three-of-them")
    expect(page.locator("#estimate")).to_contain_text("recall needs no estimate")
    looking.looks_well(page, "pool-of-every-passage")
    assert witness.drain() == []


def test_the_board_says_what_to_add_next_and_its_door_has_the_value_chosen(page, signed_in, witness, project):
    signed_in(lead_of(project))

    go(page, f"/p/{project.slug}/queries/balance/")
    page.get_by_role("textbox", name="Type").fill("how-to = 60\nlook-up = 40")
    page.get_by_role("textbox", name="Domain").fill("access = 50\nsecurity = 50")
    with turned(page):
        page.get_by_role("button", name="Save the targets").press("Enter")
    expect(page.get_by_role("heading", name="What to add next")).to_be_visible()
    looking.looks_well(page, "balance")
    with turned(page):
        page.get_by_role("link", name="Add a query").first.press("Enter")
    expect(page.get_by_label("Domain")).to_have_value("security")
    assert witness.drain() == []
