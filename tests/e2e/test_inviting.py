"""Several people invited at once, their links copied, and a forgotten password, in a browser."""

import re

import pytest
from playwright.sync_api import expect

from apps.accounts.models import Invitation
from tests.e2e import looking
from tests.e2e.waiting import go, turned
from tests.e2e.worlds import shared
from tests.factories import lead_of, make_member, make_project, make_user

pytestmark = pytest.mark.django_db(transaction=True)
NEW = "gravel orange lamp tin"


def make_team():
    return make_project("Osterby docs")


project = shared(make_team)


def test_a_lead_invites_two_people_and_copies_their_links(page, context, project, signed_in, witness):
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    signed_in(lead_of(project))
    go(page, f"/p/{project.slug}/people/")
    expect(page.get_by_text("These links work on this computer only")).to_be_visible()
    page.get_by_label("People, one a line").fill("Mara Quill, mara@example.org, annotator\nTobias Reck, reviewer")
    with turned(page):
        page.get_by_role("button", name="Create invitation links").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Invite 2 people")
    looking.look_at(page, "people-preview")
    looking.clean_in_both_themes(page)
    assert looking.faults_at_width(page, 390) == []
    with turned(page):
        page.get_by_role("button", name="Invite 2 people").click()

    expect(page.get_by_role("heading", name="2 invitations")).to_be_visible()
    link = page.locator("#link-1").inner_text()
    page.get_by_role("button", name="Copy the link for Mara Quill").click()
    expect(page.locator("[data-copy=link-1]")).to_have_text(re.compile("Copied|Press ctrl c"))
    looking.look_at(page, "people-invited")
    looking.clean_in_both_themes(page)
    assert looking.faults_at_width(page, 390) == []
    assert witness.drain() == []

    context.clear_cookies()
    go(page, link)
    expect(page.get_by_label("Name", exact=True)).to_have_value("Mara Quill")
    page.get_by_label("Password").fill(NEW)
    with turned(page):
        page.get_by_role("button", name="Join").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Your tasks")
    assert Invitation.objects.get(name="Mara Quill").used_by.email == "mara@example.org"


def test_a_mistake_in_a_line_is_shown_under_the_field_and_nothing_is_lost(page, project, signed_in):
    signed_in(lead_of(project))
    go(page, f"/p/{project.slug}/people/")
    people = page.get_by_label("People, one a line")
    people.fill("Mara Quill, boss")
    with turned(page):
        page.get_by_role("button", name="Create invitation links").click()

    expect(page.get_by_text("Line 1, role: “boss” is no role")).to_be_visible()
    expect(people).to_have_value("Mara Quill, boss")


def test_a_forgotten_password_is_replaced_with_the_link_of_an_operator(page, context, project, signed_in):
    person, operator = make_member(project, "annotator", name="Mara Quill"), make_user("Operator", is_operator=True)
    signed_in(operator)
    go(page, "/people/")
    with turned(page):
        page.get_by_role("button", name="New password link for Mara Quill").click()
    link = page.locator("#reset-link").inner_text()
    looking.look_at(page, "reset-link")
    looking.clean_in_both_themes(page)
    assert looking.faults_at_width(page, 390) == []

    context.clear_cookies()
    page.set_viewport_size(looking.WIDE)
    go(page, link)
    page.get_by_label("New password").fill(NEW)
    with turned(page):
        page.get_by_role("button", name="Change password").click()
    page.get_by_label("E-mail").fill(person.email)
    page.get_by_label("Password").fill(NEW)
    with turned(page):
        page.get_by_role("button", name="Sign in").click()

    expect(page.get_by_role("heading", level=1)).to_have_text("Your tasks")


def test_the_pages_of_a_forgotten_password_are_clean(page, transactional_db):
    go(page, "/login/")
    with turned(page):
        page.get_by_role("link", name="Forgotten your password?").click()

    expect(page.get_by_text("an operator creates one")).to_be_visible()
    looking.clean_in_both_themes(page)
    assert looking.faults_at_width(page, 390) == []
