"""Single sign-on between the browser and the provider: what the browser keeps meanwhile, and what comes back.

The cookie is signed, for this browser only, and lasts ten minutes. It gives no access.
"""

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from datetime import datetime
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from django.conf import settings
from django.core import signing
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse

from apps.accounts.actions.sign_ins import SignInRefused, count_return
from apps.accounts.core.oidc.configuration import SingleSignOn
from apps.accounts.core.oidc.flow import (
    ERRORS,
    FLOW_SECONDS,
    AnswerRefused,
    Claims,
    Flow,
    ProviderUnavailable,
    authorization_url,
    code_in,
    end_session_url,
)
from apps.accounts.models import LoginAttempt
from apps.common.discovery import later
from apps.common.errors import Refusal
from apps.common.web.addresses import Opening
from apps.common.web.requests import client_address, link_for_others

if TYPE_CHECKING:
    from apps.accounts.core.oidc.provider import Provider

log = logging.getLogger(__name__)
provider_of = later("apps.accounts.core.oidc.provider.Provider")
"""Loaded where there is single sign-on: its library takes 12 MB."""

SALT = "karat.single-sign-on"
ID_TOKEN = "id_token"
"""The key in a session under which the ID token is, to sign out at the provider with it."""
LONGEST_KEPT_TOKEN = 4_096
NO_STATE = "denied_without_state"
"""Anybody can send a browser here with such an answer: what was begun in it goes on."""
_ANY = "What {name} answered did not pass Karat’s checks. Begin again; if it stays so, tell whoever runs Karat."
_SENTENCES = {
    "no_flow": "This sign-in was not begun in this browser, or more than ten minutes ago. Begin again.",
    "state": "This answer belongs to another sign-in. Begin again.",
    **dict.fromkeys(["denied", NO_STATE], "{name} did not let you in. Begin again, or ask whoever runs it."),
    "code": "{name} did not accept its own answer a second time. Begin again.",
}


class ProviderAway(Refusal):
    """The provider cannot be reached, or does not work as its documents say."""

    status = 502


class Returned(NamedTuple):
    """Somebody who came back from the provider. Delete `attempt` when they are let in."""

    flow: Flow
    claims: Claims
    id_token: str
    attempt: LoginAttempt


def configuration_or_404() -> SingleSignOn:
    if settings.SINGLE_SIGN_ON is None:
        raise Http404("There is no single sign-on here.")
    return settings.SINGLE_SIGN_ON


def leave(request: HttpRequest, flow: Flow, at: datetime) -> str:
    """Where the browser goes to begin this flow. Raises ProviderAway."""
    provider = _provider()
    with _in_words():
        metadata = provider.metadata(at)
    return authorization_url(provider.configuration, metadata, flow, _redirect_uri(request))


def come_back(request: HttpRequest, at: datetime) -> Returned:
    """Whom the provider has signed in, if all about the answer is right. Raises SignInRefused, ProviderAway."""
    provider, flow = _provider(), _kept_flow(request)
    with _in_words():
        code = code_in(_parameters(request), flow, provider.configuration, provider.metadata(at))
    assert flow is not None
    attempt = count_return(state=flow.state, address=client_address(request), at=at)
    try:
        with _in_words():
            claims, token = provider.claims(code, flow.verifier, _redirect_uri(request), nonce=flow.nonce, at=at)
    except ProviderAway:
        attempt.delete()
        raise
    return Returned(flow, claims, token, attempt)


def farewell_url(request: HttpRequest, id_token: str, at: datetime) -> str:
    """Where the browser goes to sign out at the provider too; "" when it cannot, or the provider is away."""
    try:
        metadata = _provider().metadata(at)
    except (AnswerRefused, ProviderUnavailable) as problem:
        log.warning("Nobody can be signed out at the provider: %s", problem)
        return ""
    back_to = link_for_others(request, reverse("accounts:login"))
    return end_session_url(configuration_or_404(), metadata, id_token, back_to)


def keep_flow(response: HttpResponse, flow: Flow) -> None:
    response.set_cookie(
        settings.FLOW_COOKIE_NAME,
        signing.dumps(asdict(flow), salt=SALT),
        max_age=FLOW_SECONDS,
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )


def forget_flow(response: HttpResponse) -> None:
    response.delete_cookie(settings.FLOW_COOKIE_NAME, samesite="Lax")


def _kept_flow(request: HttpRequest) -> Flow | None:
    cookie = request.COOKIES.get(settings.FLOW_COOKIE_NAME, "")
    try:
        return Flow(**signing.loads(cookie, salt=SALT, max_age=FLOW_SECONDS))
    except (signing.BadSignature, TypeError):  # TypeError: of a Karat whose flows had other fields
        return None


def _parameters(request: HttpRequest) -> Mapping[str, str]:
    """The parameters of the answer. One that is there twice counts as wrong (RFC 6749, 3.1)."""
    return {name: values[0] if len(values) == 1 else "" for name, values in request.GET.lists()}


def _provider() -> "Provider":
    return _provider_of(configuration_or_404(), settings.OUTBOUND_ALLOW)


@lru_cache(maxsize=8)
def _provider_of(configuration: SingleSignOn, openings: tuple[Opening, ...]) -> "Provider":
    return provider_of(configuration, openings)


def _redirect_uri(request: HttpRequest) -> str:
    return link_for_others(request, reverse("accounts:sso-return"))


@contextmanager
def _in_words() -> Iterator[None]:
    """Say what was wrong to the person in words that help them, and to the operator in the log."""
    name = configuration_or_404().name
    try:
        yield
    except AnswerRefused as refused:
        log.warning("An answer of single sign-on was refused: %s.", refused.code)
        sentence = ERRORS.get(refused.error) or _SENTENCES.get(refused.code, _ANY)
        raise SignInRefused(sentence.format(name=name, error=refused.error), code=refused.code) from None
    except ProviderUnavailable as problem:
        log.warning("Single sign-on does not work: %s", problem)
        sentence = f"{name} did not answer as expected. Try again in a minute, or tell whoever runs Karat."
        raise ProviderAway(sentence, code="provider_away") from None
