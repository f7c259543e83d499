"""People in a browser: invited at once, a forgotten password, a session that is not theirs, and somebody who leaves."""

import re

import pytest
from django.contrib.sessions.models import Session
from django.test import Client
from playwright.sync_api import expect

from apps.accounts.access import sessions
from apps.accounts.enums import Role
from apps.accounts.models import Invitation
from tests.e2e import looking
from tests.e2e.waiting import go, turned
from tests.e2e.worlds import shared
from tests.factories import PASSWORD, lead_of, make_member, make_project, make_user

pytestmark = pytest.mark.django_db(transaction=True)
NEW = "gravel orange lamp tin"
FIREFOX = "Mozilla/5.0 (Windows NT 10.0; rv:140.0) Gecko/20100101 Firefox/140.0"


project = shared(lambda: make_project("Osterby docs"))


def test_a_lead_ends_a_strange_session_and_invites_two_people_with_their_links(
    page, context, project, signed_in, witness, monkeypatch
):
    monkeypatch.setattr(sessions, "uses", sessions.Uses())
    signed_in(lead_of(project))
    a_person_ends_the_session_that_they_do_not_know(page, lead_of(project))
    assert witness.drain() == []
    page.set_viewport_size(looking.WIDE)
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    go(page, f"/p/{project.slug}/people/")
    expect(page.get_by_text("These links work on this computer only")).to_be_visible()
    people = page.get_by_label("People, one a line")
    people.fill("Mara Quill, boss")
    with turned(page):
        page.get_by_role("button", name="Create invitation links").click()
    expect(page.get_by_text("Line 1, role: “boss” is no role")).to_be_visible()
    expect(people).to_have_value("Mara Quill, boss")
    witness.drain()  # the browser notes the refusal
    people.fill("Mara Quill, mara@example.org, annotator\nTobias Reck, reviewer")
    with turned(page):
        page.get_by_role("button", name="Create invitation links").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Invite 2 people")
    looking.looks_well(page, "people-preview")
    with turned(page):
        page.get_by_role("button", name="Invite 2 people").click()

    expect(page.get_by_role("heading", name="2 invitations")).to_be_visible()
    link = page.locator("#link-1").inner_text()
    page.get_by_role("button", name="Copy the link for Mara Quill").click()
    expect(page.locator("[data-copy=link-1]")).to_have_text(re.compile("Copied|Press ctrl c"))
    looking.looks_well(page, "people-invited")
    assert witness.drain() == []

    context.clear_cookies()
    go(page, link)
    expect(page.get_by_label("Name", exact=True)).to_have_value("Mara Quill")
    page.get_by_label("Password").fill(NEW)
    with turned(page):
        page.get_by_role("button", name="Join").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Your tasks")
    assert Invitation.objects.get(name="Mara Quill").used_by.email == "mara@example.org"


def test_an_operator_has_a_lead_leave_and_gives_a_link_to_who_forgot_their_password(
    page, context, project, signed_in, witness
):
    person, operator = make_member(project, "annotator", name="Mara Quill"), make_user("Ops Person", is_operator=True)
    signed_in(operator)
    a_lead_leaves_and_the_operator_leads(page, project, operator)
    context.clear_cookies()
    go(page, "/login/")
    with turned(page):
        page.get_by_role("link", name="Forgotten your password?").click()
    expect(page.get_by_text("an operator creates one")).to_be_visible()
    looking.looks_well(page)
    signed_in(operator)
    go(page, "/people/")
    with turned(page):
        page.get_by_role("button", name="New password link for Mara Quill").click()
    link = page.locator("#reset-link").inner_text()
    looking.looks_well(page, "reset-link")

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
    assert witness.drain() == []


def a_person_ends_the_session_that_they_do_not_know(page, lead):
    stranger = Client(headers={"User-Agent": FIREFOX})
    stranger.post("/login/", {"email": lead.email, "password": PASSWORD})
    go(page, "/profile/")

    expect(page.get_by_role("row", name="Firefox on Windows")).to_be_visible()
    expect(page.get_by_role("row", name="now, on this page")).to_be_visible()
    looking.looks_well(page, "profile")
    with turned(page):
        page.get_by_role("button", name="End the session in Firefox on Windows").click()

    expect(page.get_by_text("The session is ended")).to_be_visible()
    expect(page.get_by_role("row", name="Firefox on Windows")).to_have_count(0)
    assert Session.objects.count() == 1
    assert stranger.get("/profile/").status_code == 302


def a_lead_leaves_and_the_operator_leads(page, project, operator):
    lead = lead_of(project)
    go(page, "/people/")
    with turned(page):
        page.get_by_role("link", name=f"{lead} leaves").click()

    expect(page.get_by_role("heading", level=1)).to_have_text(f"{lead} leaves")
    expect(page.get_by_text("Nobody else leads Osterby docs.")).to_be_visible()
    looking.looks_well(page, "leaving")
    page.get_by_label("Who leads from now on").select_option(label=str(operator))
    page.get_by_label("To confirm").fill(lead.email)
    with turned(page):
        page.get_by_role("button", name="End the account").click()

    expect(page.get_by_text(f"{lead} has left.")).to_be_visible()
    assert project.memberships.get(role=Role.LEAD, ended_at=None).user == operator
