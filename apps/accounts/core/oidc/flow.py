"""One sign-in at the provider, from leaving to coming back: what is sent, and what only the same browser knows.

The code flow of OpenID Connect Core 1.0, with PKCE (RFC 7636, S256) and the issuer in the answer (RFC 9207).
"""

import base64
import hashlib
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from hmac import compare_digest
from typing import Any, NamedTuple
from urllib.parse import urlencode

from apps.accounts.core.oidc.configuration import SingleSignOn, is_safe_url


@dataclass(frozen=True)
class Claims:
    """What the provider says of a person. `email` is empty unless the provider has verified it; `address` is what it
    says anyway, and proves nothing by itself.

    `groups` is empty when the token names none; `has_too_many_groups` when the provider left them out for their number.
    """

    issuer: str
    subject: str
    email: str = ""
    address: str = ""
    name: str = ""
    groups: frozenset[str] = frozenset()
    has_too_many_groups: bool = False


class AnswerRefused(Exception):
    """An answer of the provider, or of somebody who poses as it, that failed a check. `code` names the check.

    Nothing in it is shown: whoever sent the answer may have chosen its words. `error` is a code of the standards by
    which a provider says why it lets nobody in, one of `ERRORS`, or "".
    """

    def __init__(self, code: str, error: str = "") -> None:
        super().__init__(code)
        self.code = code
        self.error = error if error in ERRORS else ""


_SET_UP = "{name} does not accept how Karat is set up there. Tell whoever runs Karat: “{error}”."
_AGAIN = "{name} wants you to sign in or agree there first. Begin again."
_FAULT = "{name} has a fault or is overloaded, and let nobody in. Try again in a minute."
ERRORS = {
    "access_denied": "{name} did not let you in: you said no there, or it does. Begin again, or ask whoever runs it.",
    "server_error": _FAULT,
    "temporarily_unavailable": _FAULT,
    **dict.fromkeys(
        ["login_required", "interaction_required", "account_selection_required", "consent_required"], _AGAIN
    ),
    **dict.fromkeys(
        [
            "invalid_request",
            "unauthorized_client",
            "unsupported_response_type",
            "invalid_scope",
            "invalid_request_uri",
            "invalid_request_object",
            "request_not_supported",
            "request_uri_not_supported",
            "registration_not_supported",
        ],
        _SET_UP,
    ),
}
"""The errors of RFC 6749 (4.1.2.1) and OpenID Connect Core 1.0 (3.1.2.6), each in words of ours."""


class ProviderUnavailable(Exception):
    """The provider did not answer, or not with what the standard asks for. The message is a sentence for the log."""


ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "Ed25519")
"""What may sign, whatever the provider offers: never `none`, and never a secret that both sides know."""
METHODS = ("client_secret_basic", "client_secret_post")


class Metadata(NamedTuple):
    """What of the discovery document is used. `end_session_endpoint` is "" when there is none."""

    authorization_endpoint: str
    token_endpoint: str
    jwks_uri: str
    end_session_endpoint: str
    authenticates_by: str
    algorithms: frozenset[str]
    sends_issuer: bool


def read_metadata(document: Mapping[str, Any], configuration: SingleSignOn) -> Metadata:
    """The discovery document, when it is of this issuer. Raises AnswerRefused and ProviderUnavailable."""
    if document.get("issuer") != configuration.issuer:
        raise AnswerRefused("discovery_issuer")
    challenges = document.get("code_challenge_methods_supported")
    if isinstance(challenges, list) and "S256" not in challenges:
        raise ProviderUnavailable("The provider does not support PKCE with S256.")
    offered = document.get("token_endpoint_auth_methods_supported", ["client_secret_basic"])
    method = next((one for one in METHODS if isinstance(offered, list) and one in offered), "")
    if not method:
        raise ProviderUnavailable("The provider takes the client secret neither in a header nor in a form.")
    algorithms = document.get("id_token_signing_alg_values_supported", ["RS256"])
    return Metadata(
        authorization_endpoint=_endpoint(document, "authorization_endpoint"),
        token_endpoint=_endpoint(document, "token_endpoint"),
        jwks_uri=_endpoint(document, "jwks_uri"),
        end_session_endpoint=_endpoint(document, "end_session_endpoint", is_needed=False),
        authenticates_by=method,
        algorithms=frozenset(one for one in ALGORITHMS if isinstance(algorithms, list) and one in algorithms),
        sends_issuer=document.get("authorization_response_iss_parameter_supported") is True,
    )


def _endpoint(document: Mapping[str, Any], name: str, *, is_needed: bool = True) -> str:
    url = document.get(name)
    if url is None and not is_needed:
        return ""
    if not isinstance(url, str) or not is_safe_url(url):
        raise ProviderUnavailable(f"The discovery document names no {name} that begins with https://.")
    return url


FLOW_SECONDS = 600
"""How long somebody may stay at the provider."""
LONGEST_CODE = 4_096


@dataclass(frozen=True)
class Flow:
    """What the browser keeps meanwhile. `links` is the person who links their account, 0 for whoever signs in;
    `invitation` the token of the link with which somebody joins, or "".
    """

    state: str
    nonce: str
    verifier: str
    wanted: str = ""
    links: int = 0
    invitation: str = ""


def begin_flow(*, wanted: str = "", links: int = 0, invitation: str = "") -> Flow:
    """A flow with fresh secrets; `wanted` is the page to open at its end."""
    state, nonce, verifier = (secrets.token_urlsafe(32) for _ in range(3))
    return Flow(state, nonce, verifier, wanted, links, invitation)


def authorization_url(configuration: SingleSignOn, metadata: Metadata, flow: Flow, redirect_uri: str) -> str:
    """Where the browser goes to sign in."""
    return with_query(
        metadata.authorization_endpoint,
        {
            "response_type": "code",
            "client_id": configuration.client_id,
            "redirect_uri": redirect_uri,
            "scope": " ".join(configuration.scopes),
            "state": flow.state,
            "nonce": flow.nonce,
            "code_challenge": challenge_of(flow.verifier),
            "code_challenge_method": "S256",
        },
    )


def end_session_url(configuration: SingleSignOn, metadata: Metadata, id_token: str, back_to: str) -> str:
    """Where the browser goes to sign out at the provider too; "" when it has no such page."""
    if not metadata.end_session_endpoint:
        return ""
    hint = {"id_token_hint": id_token} if id_token else {}
    query = {"client_id": configuration.client_id, "post_logout_redirect_uri": back_to, **hint}
    return with_query(metadata.end_session_endpoint, query)


def code_in(answer: Mapping[str, str], flow: Flow | None, configuration: SingleSignOn, metadata: Metadata) -> str:
    """The code in the parameters with which the browser came back. Raises AnswerRefused."""
    if flow is None:
        raise AnswerRefused("no_flow")
    if "error" in answer and not answer.get("state"):
        raise AnswerRefused("denied_without_state", answer["error"])
    if not compare_digest(answer.get("state", "").encode(), flow.state.encode()):
        raise AnswerRefused("state")
    if answer.get("iss", configuration.issuer) != configuration.issuer:
        raise AnswerRefused("mixed_up")
    if metadata.sends_issuer and "iss" not in answer:
        raise AnswerRefused("mixed_up")
    if "error" in answer:
        raise AnswerRefused("denied", answer["error"])
    code = answer.get("code", "")
    if not 0 < len(code) <= LONGEST_CODE:
        raise AnswerRefused("no_code")
    return code


def challenge_of(verifier: str) -> str:
    digest = hashlib.sha256(verifier.encode()).digest()
    return base64.urlsafe_b64encode(digest).decode().rstrip("=")


def with_query(url: str, query: Mapping[str, str]) -> str:
    return f"{url}{'&' if '?' in url else '?'}{urlencode(query)}"
