"""What the tests of single sign-on share: the settings, and a browser that leaves for the provider and comes back."""

from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.http.response import HttpResponseBase
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from apps.accounts.access import single_sign_on
from apps.accounts.actions.invitations import invite
from apps.accounts.core.oidc.configuration import SingleSignOn
from apps.accounts.core.oidc.flow import Claims
from apps.accounts.enums import Role
from apps.accounts.models import Identity, Project, User
from apps.common.web.addresses import parse_openings
from tests.accounts.provider import CLIENT_ID, CLIENT_SECRET, PERSON, FakeProvider
from tests.factories import AT, lead_of, make_project

BREAK_GLASS = "ops@example.org"


def configuration(issuer: str = "https://login.example.org", **options: Any) -> SingleSignOn:
    known = {"client_id": CLIENT_ID, "client_secret": CLIENT_SECRET, "name": "Acme", "scopes": ("openid", "email")}
    return SingleSignOn(**{"issuer": issuer, **known, **options})


def name_in_settings(provider: FakeProvider, settings: Any, **options: Any) -> None:
    """Make the provider that of this server, which may request it and remembers nothing of one before."""
    single_sign_on._provider_of.cache_clear()
    settings.SINGLE_SIGN_ON = configuration(provider.issuer, **options)
    settings.OUTBOUND_ALLOW = parse_openings([f"127.0.0.1:{provider.server_port}"])


class Browser:
    """One browser that signs in at the provider. `answer` is what it comes back with, and may be tampered with."""

    def __init__(self, provider: FakeProvider, client: Client | None = None) -> None:
        self.provider = provider
        self.client = client or Client()
        self.location = ""
        self.answer: dict[str, Any] = {}

    def leave(self, wanted: str = "", join: str = "") -> HttpResponseBase:
        asked = {"next": wanted, "join": join}
        response = self.client.get(reverse("accounts:sso"), {name: value for name, value in asked.items() if value})
        return self._left(response, response.headers.get("Location", ""))

    def leave_to_link(self, password: str) -> HttpResponseBase:
        response = self.client.post(reverse("accounts:link"), {"current": password})
        return self._left(response, response.context.get("url", "") if response.context else "")

    def _left(self, response: HttpResponseBase, location: str) -> HttpResponseBase:
        self.location = location
        self.answer = self.provider.answer(location) if location.startswith(self.provider.issuer) else {}
        return response

    def come_back(self) -> HttpResponseBase:
        query = urlencode(self.answer, doseq=True)
        return self.client.get(f"{reverse('accounts:sso-return')}?{query}")

    def sign_in(self, wanted: str = "", join: str = "") -> HttpResponseBase:
        self.leave(wanted, join)
        return self.come_back()

    @property
    def user(self) -> User | None:
        key = self.client.session.get("_auth_user_id") if settings.SESSION_COOKIE_NAME in self.client.cookies else None
        return User.objects.get(pk=key) if key else None


def refusal_of(response: Any) -> str:
    """The code of the refusal that a page shows; "" for another page."""
    refusal = (response.context or {}).get("refusal")
    return refusal.code if refusal else ""


def link(user: User, provider) -> User:
    Identity.objects.create(user=user, issuer=provider.issuer, subject=PERSON["sub"], linked_at=AT)
    return user


def invite_mara(**changed):
    project = make_project()
    options = {"roles": [Role.ANNOTATOR], "email": PERSON["email"], "at": timezone.now()} | changed
    return invite(project=project, actor=lead_of(project), **options)[0]


def signed_in(client: Client, user: User) -> Client:
    client.force_login(user)
    return client


def linked_invitation(email: str = PERSON["email"], at=None) -> tuple[Project, str]:
    project = make_project()
    lead = lead_of(project)
    _, token = invite(project=project, actor=lead, roles=["viewer"], email=email, at=at or timezone.now())
    return project, token


def claims_of_mara(provider) -> Claims:
    address = PERSON["email"]
    return Claims(provider.issuer, PERSON["sub"], email=address, address=address, name=PERSON["name"])
