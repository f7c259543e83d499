"""Own sessions in a browser: another one is ended from the profile, and is signed out."""

import pytest
from django.contrib.sessions.models import Session
from django.test import Client
from playwright.sync_api import expect

from apps.accounts.access import sessions
from tests.e2e import looking
from tests.e2e.waiting import go, turned
from tests.e2e.worlds import shared
from tests.factories import PASSWORD, lead_of, make_project

pytestmark = pytest.mark.django_db(transaction=True)
FIREFOX = "Mozilla/5.0 (Windows NT 10.0; rv:140.0) Gecko/20100101 Firefox/140.0"
project = shared(lambda: make_project("Osterby docs"))


def test_a_person_ends_the_session_that_they_do_not_know(page, project, signed_in, witness, monkeypatch):
    monkeypatch.setattr(sessions, "uses", sessions.Uses())
    lead = lead_of(project)
    stranger = Client(headers={"User-Agent": FIREFOX})
    stranger.post("/login/", {"email": lead.email, "password": PASSWORD})
    signed_in(lead)
    go(page, "/profile/")

    expect(page.get_by_role("row", name="Firefox on Windows")).to_be_visible()
    expect(page.get_by_role("row", name="now, on this page")).to_be_visible()
    looking.look_at(page, "profile")
    looking.clean_in_both_themes(page)
    assert looking.faults_at_width(page, 390) == []
    with turned(page):
        page.get_by_role("button", name="End the session in Firefox on Windows").click()

    expect(page.get_by_text("The session is ended")).to_be_visible()
    expect(page.get_by_role("row", name="Firefox on Windows")).to_have_count(0)
    assert Session.objects.count() == 1
    assert stranger.get("/profile/").status_code == 302
    assert witness.drain() == []
