"""Joining by a link, where the provider does not say whether it has verified an address."""

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from apps.accounts.actions.invitations import create_setup_link
from apps.accounts.models import Identity, Invitation
from apps.accounts.selectors import roles_of
from tests.accounts.provider import LEAVE_OUT, PERSON
from tests.accounts.sso import BREAK_GLASS, Browser, linked_invitation, refusal_of
from tests.factories import AT, make_user

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def unverified(provider):
    provider.person["email_verified"] = LEAVE_OUT


def test_the_page_of_an_invitation_leads_to_the_provider_with_it(provider):
    _, token = linked_invitation()

    page = Client().get(reverse("accounts:join", kwargs={"token": token})).content.decode()

    assert f'href="/sso/?join={token}"' in page


def test_the_link_and_the_address_that_it_was_made_for_let_somebody_in(browser, allow):
    allow(passwords_only_for=BREAK_GLASS)
    project, token = linked_invitation()

    browser.sign_in(join=token)

    assert browser.user.email == PERSON["email"]
    assert roles_of(browser.user, project) == {"viewer"}
    assert refusal_of(Browser(browser.provider).sign_in(join=token)) == ""  # known now, and the link is not needed


def test_one_of_both_is_not_enough(browser):
    """Else a lead could invite an address of their own, and lead somebody else into that account."""
    set_up = create_setup_link(at=timezone.now())
    Invitation.objects.update(email=PERSON["email"])
    _, others = linked_invitation("attacker@example.org")
    _, without = linked_invitation("")
    _, old = linked_invitation(at=AT)

    for token in (others, without, old, set_up, "guessed", ""):
        assert refusal_of(browser.sign_in(join=token)) == "unverified"
    browser.provider.person["email"] = LEAVE_OUT
    assert refusal_of(browser.sign_in(join=without)) == "unverified"
    assert not Identity.objects.exists()


def test_a_link_never_opens_an_account_that_exists(browser, provider, allow):
    allow(domains=frozenset({"example.org"}), links_by_email=True)
    user = make_user("Mara")
    provider.person["email"] = user.email
    _, token = linked_invitation(user.email)

    assert refusal_of(browser.sign_in(join=token)) == "not_linked"
    assert not user.identities.exists()
