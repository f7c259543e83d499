"""Signing in with a provider that others wrote, from a package, in a browser."""

from collections.abc import Iterator

import pytest
from django.utils import timezone
from oidc_provider_mock import User as Somebody
from oidc_provider_mock import run_server_in_thread
from playwright.sync_api import Page, expect

from apps.accounts.access import single_sign_on
from apps.accounts.actions.invitations import invite
from apps.accounts.enums import Role
from apps.accounts.models import Identity, User
from apps.common.web.addresses import parse_openings
from tests.accounts.sso import configuration
from tests.e2e.waiting import go, ready
from tests.factories import lead_of, make_project

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # the provider's own
]

MARA = Somebody(sub="mara-1", claims={"email": "mara@example.org", "email_verified": True, "name": "Mara Quill"})
UNVERIFIED = Somebody(sub="mara-2", claims={"email": "mara@example.org", "email_verified": False, "name": "Mara Quill"})


@pytest.fixture
def provider(settings) -> Iterator[str]:
    with run_server_in_thread(user_claims=[MARA, UNVERIFIED]) as server:
        issuer = f"http://localhost:{server.server_port}"
        single_sign_on._provider_of.cache_clear()
        scopes = ("openid", "email", "profile")
        settings.SINGLE_SIGN_ON = configuration(issuer, scopes=scopes)
        settings.OUTBOUND_ALLOW = parse_openings([f"localhost:{server.server_port}"])
        yield issuer


@pytest.fixture
def invited(transactional_db) -> None:
    project = make_project("Osterby docs")
    invite(project=project, actor=lead_of(project), roles=[Role.ANNOTATOR], email="mara@example.org", at=timezone.now())


def sign_in_as(page: Page, subject: str) -> None:
    go(page, "/login/?next=/profile/")
    page.get_by_role("link", name="Sign in with Acme").click()
    page.locator(f"button[value='{subject}']").click()
    ready(page)


def test_somebody_invited_signs_in_and_comes_again_and_who_refuses_or_has_no_verified_address_does_not(
    page, provider, invited
):
    who_refuses_or_has_no_verified_address_is_not_let_in(page)
    page.context.clear_cookies()
    for _ in range(2):
        sign_in_as(page, "mara-1")
        expect(page.get_by_role("heading", level=1)).to_have_text("Mara Quill")
        page.context.clear_cookies()

    identity = Identity.objects.get()
    assert (identity.issuer, identity.subject, identity.user.email) == (provider, "mara-1", "mara@example.org")
    assert not identity.user.has_usable_password()


def who_refuses_or_has_no_verified_address_is_not_let_in(page):
    go(page, "/login/")
    page.get_by_role("link", name="Sign in with Acme").click()
    page.get_by_role("button", name="Deny").click()
    ready(page)
    expect(page.get_by_role("heading", level=1)).to_have_text("You are not signed in")
    expect(page.get_by_role("link", name="Sign in with Acme")).to_be_visible()

    sign_in_as(page, "mara-2")
    expect(page.get_by_text("Acme sent no verified e-mail address")).to_be_visible()
    assert not Identity.objects.exists()
    assert not User.objects.filter(email="mara@example.org").exists()
