"""A project is archived and brought back, in a browser."""

import pytest
from playwright.sync_api import expect

from tests.e2e import looking
from tests.e2e.waiting import go, turned
from tests.e2e.worlds import shared
from tests.factories import lead_of
from tests.judging.factories import judge_all, make_round, people_of

pytestmark = pytest.mark.django_db(transaction=True)


def make_judged():
    round_ = make_round(queries=1, blocks=2, annotators=1, overlap=0.0)
    judge_all(round_, people_of(round_)[0])
    return round_.project


project = shared(make_judged)


def test_a_project_is_archived_comes_back_and_is_deleted_with_its_name_typed(page, project, signed_in, witness):
    signed_in(lead_of(project))
    go(page, f"/p/{project.slug}/settings/")
    page.get_by_role("button", name="Archive the project").click()
    with turned(page):
        page.get_by_role("dialog").get_by_role("button", name="Archive").click()

    page.get_by_text("Archived: 1").click()
    looking.looks_well(page, "projects-archived", widths=())
    with turned(page):
        page.get_by_role("link", name=project.name).click()
    expect(page.get_by_text("This project is archived")).to_be_visible()
    expect(page.get_by_text("Nothing while the project is archived.")).to_be_visible()
    looking.looks_well(page)

    page.set_viewport_size(looking.WIDE)
    with turned(page):
        page.get_by_role("link", name="Bring it back").click()
    with turned(page):
        page.get_by_role("button", name="Bring the project back").click()
    expect(page.get_by_text("This project is archived")).to_have_count(0)
    assert witness.drain() == []

    go(page, f"/p/{project.slug}/settings/")
    with turned(page):
        page.get_by_role("link", name="Delete the project").click()
    looking.looks_well(page, "project-delete")

    page.set_viewport_size(looking.WIDE)
    page.get_by_label("Name of the project").fill("another name")
    with turned(page):
        page.get_by_role("button", name="Delete the project").click()
    expect(page.get_by_text("Nothing was deleted")).to_be_visible()

    page.get_by_label("Name of the project").fill(project.name)
    with turned(page):
        page.get_by_role("button", name="Delete the project").click()
    expect(page.get_by_text("is being deleted. Nobody can open it any more.")).to_be_visible()
    expect(page.get_by_role("link", name=project.name)).to_have_count(0)
    refused = witness.drain()
    assert len(refused) <= 1, refused
