"""A lead chooses many queries and changes them alike, after a preview."""

import pytest
from playwright.sync_api import expect

from apps.queries.models import Query
from tests.e2e import looking
from tests.e2e.looking import NARROW, WIDE
from tests.e2e.waiting import go, turned
from tests.factories import lead_of, make_project
from tests.queries.factories import make_source
from tests.retrieval.factories import make_queries

pytestmark = pytest.mark.django_db(transaction=True)


def test_all_queries_of_a_page_get_a_domain_and_a_source(page, signed_in, witness):
    project = make_project()
    make_queries(project, {f"Q{number:02}": f"which door is number {number}" for number in range(1, 8)})
    source = make_source(project, name="Search log")
    signed_in(lead_of(project))
    go(page, f"/p/{project.slug}/queries/")

    page.get_by_label("Select Q03").check()
    expect(page.get_by_text("1 selected")).to_be_visible()
    page.get_by_label("All on this page").check()
    expect(page.get_by_text("7 selected")).to_be_visible()
    page.get_by_label("Select Q07").uncheck()
    expect(page.get_by_text("6 selected")).to_be_visible()
    looking.clean(page, "queries-selected")
    with turned(page):
        page.get_by_role("button", name="Change selected").click()

    expect(page.get_by_role("heading", name="Change 6 queries")).to_be_visible()
    page.get_by_label("Domain").fill("doors")
    page.get_by_label("Source").select_option("Search log")
    with turned(page):
        page.get_by_role("button", name="Preview").click()
    expect(page.get_by_role("heading", name="6 queries change")).to_be_visible()
    looking.clean(page, "queries-change")
    page.set_viewport_size(NARROW)
    assert page.evaluate("document.documentElement.scrollWidth") <= NARROW["width"]
    page.set_viewport_size(WIDE)
    with turned(page):
        page.get_by_role("button", name="Change 6 queries").click()

    expect(page.get_by_text("6 queries were changed.")).to_be_visible()
    assert Query.objects.filter(domain="doors", source=source).count() == 6
    assert witness.drain() == []
