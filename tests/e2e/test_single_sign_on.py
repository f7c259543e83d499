"""Signing in through a provider that runs beside Karat, linking an account with it, and signing out at both."""

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from apps.accounts.actions.invitations import invite
from apps.accounts.enums import Role
from apps.accounts.models import Identity, User
from tests.accounts.provider import PERSON, running
from tests.accounts.sso import BREAK_GLASS, name_in_settings
from tests.e2e import looking
from tests.e2e.waiting import go, ready, turned
from tests.factories import PASSWORD, lead_of, make_member, make_project

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def provider(settings):
    with running() as provider:
        name_in_settings(provider, settings)
        yield provider


@pytest.fixture
def project(transactional_db):
    return make_project("Osterby docs")


def test_a_stranger_is_told_who_is_let_in_and_somebody_invited_signs_in_and_out_at_both(
    page, provider, settings, project, witness
):
    pages_of_strangers_say_who_is_let_in(page, provider, settings)
    witness.drain()  # the browser notes the refusals
    page.context.clear_cookies()
    lead = lead_of(project)
    invite(project=project, actor=lead, roles=[Role.ANNOTATOR], email=PERSON["email"], at=timezone.now())
    go(page, "/login/?next=/profile/")
    looking.looks_well(page, "sign-in-with-acme", widths=(380,))

    page.get_by_role("link", name="Sign in with Acme").click()
    page.get_by_role("link", name="Continue as Mara Quill").click()
    ready(page)

    expect(page.get_by_role("heading", level=1)).to_have_text("Mara Quill")
    expect(page.get_by_text("Your account is linked since")).to_be_visible()
    looking.looks_well(page, "profile-linked", widths=(380,))
    assert witness.drain() == []

    page.locator("details.menu > summary").click()
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", name="Signed out at the provider")).to_be_visible()
    page.get_by_role("link", name="Back").click()
    ready(page)
    expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")
    assert User.objects.get(email=PERSON["email"]).identities.count() == 1

    page.context.clear_cookies()
    pages_of_strangers_fit_with_a_long_name(page, provider, settings, project)


def test_a_member_links_their_account_after_the_password(page, provider, project, signed_in, witness):
    person = make_member(project, "annotator", name="Mara Quill")
    signed_in(person)
    go(page, "/profile/")
    looking.looks_well(page, "profile-not-linked", widths=(380,))
    link = page.locator("#link")

    link.get_by_label("Current password").fill("not this one")
    with turned(page):
        link.get_by_role("button", name="Link with Acme").click()
    expect(link.get_by_text("This is not your current password.")).to_be_visible()
    witness.drain()  # the browser notes the 400
    link.get_by_label("Current password").fill(PASSWORD)
    link.get_by_role("button", name="Link with Acme").click()
    page.get_by_role("link", name="Continue as Mara Quill").click()
    ready(page)

    expect(page.get_by_text("Your account is linked. You can sign in with Acme now.")).to_be_visible()
    assert Identity.objects.get().user == person
    assert witness.drain() == []


def pages_of_strangers_say_who_is_let_in(page, provider, settings):
    name_in_settings(provider, settings, passwords_only_for=BREAK_GLASS)
    go(page, "/login/")
    expect(page.get_by_label("E-mail")).to_be_hidden()
    looking.looks_well(page, "sign-in-without-passwords", widths=())

    page.get_by_text("Password, for the operator in an emergency").click()
    page.get_by_label("E-mail").fill("mara@example.org")
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    with turned(page):
        page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_text("Wrong e-mail address or password.")).to_be_visible()
    expect(page.get_by_label("E-mail")).to_be_visible()
    assert looking.faults_at_width(page, 380) == []

    name_in_settings(provider, settings)
    go(page, "/login/")
    page.get_by_role("link", name="Sign in with Acme").click()
    page.get_by_role("link", name="Continue as Mara Quill").click()
    ready(page)
    expect(page.get_by_text("Nobody has invited your e-mail address.")).to_be_visible()
    looking.looks_well(page, "not-signed-in", widths=(380,))


def pages_of_strangers_fit_with_a_long_name(page, provider, settings, project):
    name_in_settings(provider, settings, name="identity.department-of-long-names.example")
    lead = lead_of(project)
    _, token = invite(project=project, actor=lead, roles=["viewer"], email="new@example.org", at=timezone.now())

    for path in ("/login/", f"/join/{token}/"):
        go(page, path)
        looking.looks_well(page, f"long-name{path[:6]}", widths=(380,))
