"""What a provider says of itself, in its discovery document (OpenID Connect Discovery 1.0, RFC 8414)."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from apps.accounts.core.oidc.configuration import SingleSignOn, is_safe_url
from apps.accounts.core.oidc.refusals import AnswerRefused, ProviderUnavailable

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
