"""The provider over HTTP: its discovery document, its keys, and the exchange of a code for an ID token.

Documents and keys are remembered for an hour by each process. A token signed with a key that is not among them leads
to one more look at the keys, at most once a minute, so that nobody makes Karat ask the provider again and again.
"""

import base64
import json
import threading
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Generic, NamedTuple, TypeVar
from urllib.parse import quote, urlencode

from apps.accounts.core.oidc.configuration import SingleSignOn, is_safe_url
from apps.accounts.core.oidc.refusals import AnswerRefused, ProviderUnavailable
from apps.accounts.core.oidc.tokens import ALGORITHMS, Claims, Key, TokenHead, claims_in, head_of, key_for, keys_in
from apps.common.web.addresses import BadAddress, Opening, parse_url
from apps.common.web.outbound import Client, HttpAnswer, Limits, OutboundError

T = TypeVar("T")
KEPT = timedelta(hours=1)
BETWEEN_LOOKS = timedelta(minutes=1)
LIMITS = Limits(connect=3.0, read=5.0, whole=10.0, size=256 * 1024)
"""Somebody waits for each of these requests, and the web server has few threads."""
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


class Provider:
    """One provider, for as long as the process lives. Safe to use from several threads."""

    def __init__(self, configuration: SingleSignOn, openings: Sequence[Opening] = ()) -> None:
        self.configuration = configuration
        self._openings = tuple(openings)
        self._metadata: _Remembered[Metadata] = _Remembered()
        self._keys: _Remembered[dict[str, list[Key]]] = _Remembered()

    def metadata(self, at: datetime) -> Metadata:
        """What the provider says of itself. Raises ProviderUnavailable and AnswerRefused."""

        def fetch() -> Metadata:
            return read_metadata(self._document("GET", self.configuration.discovery_url), self.configuration)

        return self._metadata.get(fetch, at)

    def claims(self, code: str, verifier: str, redirect_uri: str, *, nonce: str, at: datetime) -> tuple[Claims, str]:
        """Redeem a code; what its ID token says, and the token. Raises ProviderUnavailable and AnswerRefused."""
        token = self._redeem(code, verifier, redirect_uri, at)
        head = head_of(token)
        if head.algorithm not in self.metadata(at).algorithms:
            raise AnswerRefused("algorithm")
        key = self._key(head, at)
        return claims_in(token, key, self.configuration, nonce=nonce, at=at), token

    def _redeem(self, code: str, verifier: str, redirect_uri: str, at: datetime) -> str:
        metadata, configuration = self.metadata(at), self.configuration
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": redirect_uri,
            "code_verifier": verifier,
        }
        headers = {"Content-Type": "application/x-www-form-urlencoded"}
        if metadata.authenticates_by == "client_secret_basic":
            pair = f"{quote(configuration.client_id, safe='')}:{quote(configuration.client_secret, safe='')}"
            headers["Authorization"] = f"Basic {base64.b64encode(pair.encode()).decode()}"
        else:
            form |= {"client_id": configuration.client_id, "client_secret": configuration.client_secret}
        answer = self._document("POST", metadata.token_endpoint, headers, urlencode(form).encode())
        token = answer.get("id_token")
        if not isinstance(token, str):
            raise AnswerRefused("no_token")
        return token

    def _key(self, head: TokenHead, at: datetime) -> Key:
        """The key that the head names, after one more look at the keys when it is not among those remembered."""

        def fetch() -> dict[str, list[Key]]:
            return keys_in(self._document("GET", self.metadata(at).jwks_uri))

        key = key_for(head, self._keys.get(fetch, at))
        if key is None and self._keys.may_look_again(at):
            key = key_for(head, self._keys.get(fetch, at, again=True))
        if key is None:
            raise AnswerRefused("key")
        return key

    def _document(
        self, method: str, url: str, headers: Mapping[str, str] | None = None, body: bytes | None = None
    ) -> dict[str, Any]:
        """The JSON object that an address answers with."""
        answer = self._ask(method, url, {"Accept": "application/json", **(headers or {})}, body)
        if answer.status != 200:
            if answer.status == 400 and body is not None:
                raise AnswerRefused("code")  # spent, made up, or for somebody else
            raise ProviderUnavailable(f"{url} answered with status {answer.status}.")
        try:
            found = json.loads(answer.body)
        except (ValueError, RecursionError):
            raise ProviderUnavailable(f"{url} did not answer with JSON.") from None
        if not isinstance(found, dict):
            raise ProviderUnavailable(f"{url} did not answer with a JSON object.")
        return found

    def _ask(self, method: str, url: str, headers: Mapping[str, str], body: bytes | None) -> HttpAnswer:
        try:
            target = parse_url(url)
            client = Client(target, openings=self._openings, limits=LIMITS)
            try:
                return client.ask(method, target.path, headers=headers, body=body)
            finally:
                client.close()
        except (OutboundError, BadAddress) as problem:
            raise ProviderUnavailable(str(problem)) from problem


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


class _Remembered(Generic[T]):
    """Something fetched, kept for `KEPT`. Several threads may fetch it at the same time, and none waits for another."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._value: T | None = None
        self._fetched_at: datetime | None = None
        self._looked_again_at: datetime | None = None

    def get(self, fetch: Callable[[], T], at: datetime, *, again: bool = False) -> T:
        with self._lock:
            value, fetched_at = self._value, self._fetched_at
        if value is not None and fetched_at is not None and not again and at - fetched_at < KEPT:
            return value
        value = fetch()
        with self._lock:
            self._value, self._fetched_at = value, at
        return value

    def may_look_again(self, at: datetime) -> bool:
        """Whether the value may be fetched before its time. Who is told yes has taken the turn."""
        with self._lock:
            last = self._looked_again_at
            if last is not None and at - last < BETWEEN_LOOKS:
                return False
            self._looked_again_at = at
            return True
