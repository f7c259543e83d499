"""One sign-in at the provider, from leaving to coming back: what is sent, and what only the same browser knows.

The code flow of OpenID Connect Core 1.0, with PKCE (RFC 7636, S256) and the issuer in the answer (RFC 9207).
"""

import base64
import hashlib
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from hmac import compare_digest
from urllib.parse import urlencode

from apps.accounts.core.oidc.configuration import SingleSignOn
from apps.accounts.core.oidc.metadata import Metadata
from apps.accounts.core.oidc.refusals import AnswerRefused

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
