"""Pages and cookies of single sign-on: what they offer, what they say, and signing out."""

import pytest
from django.test import Client
from django.urls import reverse

from apps.accounts.models import LoginAttempt, UsedState
from tests.accounts.sso import BREAK_GLASS, Browser, link, signed_in
from tests.factories import AT, make_user

pytestmark = pytest.mark.django_db


def test_signing_out_leads_to_the_provider_with_the_token(provider, browser):
    link(make_user("Mara"), provider)
    browser.sign_in()

    response = browser.client.post(reverse("accounts:logout"))

    url = response.context["url"]
    assert url.startswith(f"{provider.issuer}/logout?")
    assert "id_token_hint=ey" in url
    assert "post_logout_redirect_uri=http%3A%2F%2Ftestserver%2Flogin%2F" in url
    assert browser.user is None


def test_a_long_token_is_not_kept_and_the_client_is_named_instead(provider, browser):
    link(make_user("Mara"), provider)
    provider.person["groups"] = ["g" * 6_000]
    browser.sign_in()

    url = browser.client.post(reverse("accounts:logout")).context["url"]

    assert "client_id=karat-client" in url
    assert "id_token_hint" not in url


@pytest.mark.parametrize("how", ["no page for it", "password"])
def test_signing_out_ends_here_otherwise(how, provider):
    if how == "password":
        browser = Browser(provider, signed_in(Client(), make_user("Mara")))
    else:
        link(make_user("Mara"), provider)
        provider.metadata["end_session_endpoint"] = None
        browser = Browser(provider)
        browser.sign_in()

    response = browser.client.post(reverse("accounts:logout"))

    assert (response.status_code, response.headers["Location"]) == (302, reverse("accounts:login"))


# Pages


def test_without_settings_nothing_is_shown_and_nothing_is_there():
    client = signed_in(Client(), make_user("Mara"))

    assert b"/sso/" not in Client().get(reverse("accounts:login")).content
    assert b"single sign-on" not in client.get(reverse("accounts:profile")).content
    for name in ("sso", "sso-return"):
        assert client.get(reverse(f"accounts:{name}")).status_code == 404
    for name in ("link", "unlink"):
        assert client.post(reverse(f"accounts:{name}")).status_code == 404


def test_the_sign_in_page_offers_the_provider_and_remembers_where_to_go(provider):
    page = Client().get(reverse("accounts:login"), {"next": "/profile/?a=1&b=2"}).content.decode()

    assert "Sign in with Acme" in page
    assert 'href="/sso/?next=%2Fprofile%2F%3Fa%3D1%26b%3D2"' in page
    assert "Forgotten your password?" in page


def test_where_passwords_are_switched_off_the_form_is_folded(provider, allow):
    allow(passwords_only_for=BREAK_GLASS)

    page = Client().get(reverse("accounts:login")).content.decode()

    assert "Password, for the operator in an emergency" in page
    assert '<details class="form-details">' in page
    assert "Forgotten your password?" not in page


def test_what_leaves_is_bound_to_the_browser_hides_the_verifier_and_is_gone_after_the_return(provider, browser):
    UsedState.objects.create(state_digest="0" * 64, at=AT)
    link(make_user("Mara"), provider)
    response = browser.leave()

    cookie = browser.client.cookies["karat-flow"]
    assert (cookie["httponly"], cookie["samesite"], cookie["max-age"]) == (True, "Lax", 600)
    assert "code_challenge_method=S256" in response.headers["Location"]
    assert "verifier" not in response.headers["Location"]
    assert "scope=openid+email" in response.headers["Location"]
    assert browser.come_back().cookies["karat-flow"].value == ""
    assert UsedState.objects.count() == 1, "those of the day before are forgotten"


def test_a_provider_that_is_away_is_said_in_words_and_counts_as_no_attempt(provider, browser):
    provider.token_status = 503

    response = browser.sign_in()

    assert response.status_code == 502
    assert b"Acme did not answer as expected. Try again in a minute" in response.content
    assert LoginAttempt.objects.count() == 0


def test_the_secret_of_the_client_is_in_no_text_of_the_settings(provider, settings):
    assert settings.SINGLE_SIGN_ON.client_secret not in repr(settings.SINGLE_SIGN_ON)
