"""Who is let in by single sign-on, as whom, and by which providers."""

from collections.abc import Callable
from dataclasses import replace
from time import time

import pytest
from django.utils import timezone
from joserfc.jwk import ECKey

from apps.accounts.actions.identities import sign_in_by_identity
from apps.accounts.actions.invitations import create_setup_link
from apps.accounts.enums import Role
from apps.accounts.models import Identity, Invitation, LoginAttempt, User
from apps.accounts.selectors import roles_of
from apps.audit.models import Event
from tests.accounts.provider import CLIENT_ID, LEAVE_OUT, PERSON, FakeProvider, key
from tests.accounts.sso import claims_of_mara, invite_mara, link, linked_invitation, refusal_of
from tests.factories import AT, make_user
from tests.races import overlapping

pytestmark = pytest.mark.django_db


def test_a_linked_person_signs_in_with_any_address_and_lands_where_they_wanted_to(provider, browser):
    user = link(make_user("Mara"), provider)
    provider.person |= {"email": "another@example.org", "email_verified": False}

    response = browser.sign_in("/profile/?tab=1")

    assert (response.status_code, response.headers["Location"]) == (302, "/profile/?tab=1")
    assert browser.user == user
    assert LoginAttempt.objects.count() == 0


def test_who_was_invited_gets_an_account_without_a_password_and_the_roles_of_the_invitation(provider, browser):
    """By every open invitation to the address, however it is written."""
    invitation, other = invite_mara(), invite_mara(email=PERSON["email"].upper())

    browser.sign_in()

    user = browser.user
    assert (user.email, user.name) == (PERSON["email"], PERSON["name"])
    assert not user.has_usable_password()
    assert not user.is_operator
    assert [roles_of(user, each.project) for each in (invitation, other)] == [{Role.ANNOTATOR}] * 2
    invitation.refresh_from_db()
    assert invitation.used_by == user
    actions = set(Event.objects.filter(actor=user).values_list("action", flat=True))
    assert actions >= {"user.created", "identity.linked", "invitation.used"}


def test_neither_another_kind_of_link_nor_one_that_has_ended_nor_a_trusted_domain_invites(provider, browser, allow):
    allow(domains=frozenset({"example.org"}))
    create_setup_link(at=AT)
    invite_mara(email="")
    invite_mara(at=AT)
    Invitation.objects.filter(pk=invite_mara().pk).update(revoked_at=AT)

    assert refusal_of(browser.sign_in()) == "not_invited"


@pytest.mark.parametrize(
    ("email", "code"),
    [
        (PERSON["email"], ""),
        ("mara@other.example", "not_invited"),
        ("mara@sub.example.org", "not_invited"),
        ("mara@example.org.evil.example", "not_invited"),
    ],
)
def test_accounts_are_made_for_trusted_domains_only_and_where_the_operator_wants_it(
    email, code, provider, browser, allow
):
    allow(domains=frozenset({"example.org"}), creates_accounts=True)
    provider.person["email"] = email

    assert refusal_of(browser.sign_in()) == code
    assert (browser.user is None) == bool(code)
    assert code or not browser.user.memberships.exists()


# Providers differ


def with_an_elliptic_curve(provider) -> None:
    provider.algorithm, provider.key = "ES256", ECKey.generate_key("P-256", {"kid": "curve"})
    provider.published = [provider.key]


HONEST: dict[str, Callable[[FakeProvider], object]] = {
    "signs with an elliptic curve": with_an_elliptic_curve,
    "signs with another padding": lambda provider: setattr(provider, "algorithm", "PS256"),
    "has one key and does not name it": lambda provider: setattr(provider, "names_its_key", False),
    "has keys that nobody here knows": lambda provider: setattr(
        provider, "jwks", {"keys": [{"kty": "AKP", "kid": "new"}, "?", key(0).as_dict(private=False)]}
    ),
    "names us as one of a list": lambda provider: provider.claims.update(aud=[CLIENT_ID], azp=CLIENT_ID),
    "names others beside us": lambda provider: provider.claims.update(aud=[CLIENT_ID, "api"], azp=CLIENT_ID),
    "has a clock that is a little ahead": lambda provider: provider.claims.update(iat=int(time()) + 30),
    "wants the secret in the form": lambda provider: provider.metadata.update(
        token_endpoint_auth_methods_supported=["client_secret_post"]
    ),
    "says nothing of challenges and algorithms": lambda provider: provider.metadata.update(
        code_challenge_methods_supported=LEAVE_OUT, id_token_signing_alg_values_supported=LEAVE_OUT
    ),
    "does not say in its answer who it is": lambda provider: provider.metadata.update(
        authorization_response_iss_parameter_supported=LEAVE_OUT
    ),
    "has a query in its address": lambda provider: provider.metadata.update(
        authorization_endpoint=f"{provider.issuer}/authorize?realm=1"
    ),
}


@pytest.mark.parametrize("how", HONEST)
def test_people_sign_in_by_a_provider_that(how, provider, browser):
    user = link(make_user("Mara"), provider)
    HONEST[how](provider)
    browser.leave()
    if "does not say" in how:
        del browser.answer["iss"]

    browser.come_back()

    assert browser.user == user


# Two at once


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("reason", ["invited", "link", "domain"])
def test_two_first_sign_ins_at_once_make_one_account(reason, provider, settings, allow):
    claims, token = claims_of_mara(provider), ""
    if reason == "domain":
        allow(domains=frozenset({"example.org"}), creates_accounts=True)
    else:
        _, token = linked_invitation()
    if reason == "link":
        claims = replace(claims, email="")
    known = {"claims": claims, "configuration": settings.SINGLE_SIGN_ON, "invitation": token}

    def sign_in() -> User:
        return sign_in_by_identity(**known, at=timezone.now())

    first, second = overlapping(sign_in, sign_in)

    assert second.code == "twice"
    assert Identity.objects.get().user == first == User.objects.get(email=PERSON["email"])
    assert sign_in() == first
