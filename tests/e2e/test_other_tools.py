"""The export of another tool becomes grades in the browser, and its judge the member who it is."""

import json

import pytest
from playwright.sync_api import expect

from apps.accounts.enums import Role
from apps.accounts.selectors import members_of
from apps.judging.models import Judgement, PlaceholderClaim
from tests.e2e import looking
from tests.e2e.waiting import go, turned
from tests.e2e.worlds import shared
from tests.factories import lead_of, make_member, make_project
from tests.judging.factories import make_snapshot
from tests.judging.test_label_studio import TASKS
from tests.queries.factories import make_query

pytestmark = pytest.mark.django_db(transaction=True)


def make_room():
    project = make_project("Osterby docs")
    make_query(project, outside_id="Q1", text="Key rotation")
    make_snapshot(project)
    make_member(project, Role.ANNOTATOR, name="Ana Kos of Osterby")
    return project


project = shared(make_room)


def test_tasks_of_label_studio_are_imported_and_their_annotator_is_joined_to_a_member(
    page, project, signed_in, witness, tmp_path
):
    signed_in(lead_of(project))
    path = tmp_path / "project-3.json"
    path.write_text(json.dumps(TASKS))
    go(page, f"/p/{project.slug}/corpus/imports/new/judgements/")
    page.get_by_label("File", exact=True).set_input_files(path)
    with turned(page):
        page.get_by_role("button", name="Preview").click()
    expect(page.get_by_text("an export of Label Studio")).to_be_visible()
    expect(page.get_by_label("relevance")).to_have_value("grade")
    expect(page.get_by_label("annotator")).to_have_value("person")
    expect(page.get_by_text("1 annotation was cancelled and stays out.")).to_be_visible()
    with turned(page):
        page.get_by_role("button", name="Import 1 query and 3 grades").click()
    assert Judgement.objects.count() == 3

    go(page, f"/p/{project.slug}/people/")
    with turned(page):
        page.get_by_role("link", name="Names in imported files").click()
    looking.looks_well(page, "imported-names")
    member = members_of(project).get(name="Ana Kos of Osterby")
    page.get_by_label("Who Ana Kos is").select_option(f"{member.name}, {member.email}")
    with turned(page):
        page.get_by_role("button", name="Join Ana Kos to this member").click()
    expect(page.get_by_text("Ana Kos is Ana Kos of Osterby. The grades stay as they were given.")).to_be_visible()
    expect(page.get_by_role("button", name="Ana Kos is not Ana Kos of Osterby")).to_be_visible()
    assert PlaceholderClaim.objects.get().member.name == "Ana Kos of Osterby"
    with turned(page):
        page.get_by_role("button", name="Ana Kos is not Ana Kos of Osterby").click()
    expect(page.get_by_text("Ana Kos is only a name again.")).to_be_visible()
