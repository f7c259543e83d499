"""The provider over HTTP: its discovery document, its keys, and the exchange of a code for an ID token.

Documents and keys are remembered for an hour by each process. A token signed with a key that is not among them leads
to one more look at the keys, at most once a minute, so that nobody makes Karat ask the provider again and again.
"""

import base64
import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any, Generic, TypeVar
from urllib.parse import quote, urlencode

from apps.accounts.core.oidc.claims import Claims
from apps.accounts.core.oidc.configuration import SingleSignOn
from apps.accounts.core.oidc.metadata import Metadata, read_metadata
from apps.accounts.core.oidc.refusals import AnswerRefused, ProviderUnavailable
from apps.accounts.core.oidc.tokens import Key, TokenHead, claims_in, head_of, key_for, keys_in
from apps.common.web.addresses import BadAddress, Opening, parse_url
from apps.common.web.outbound import Client, HttpAnswer, Limits, OutboundError

T = TypeVar("T")
KEPT = timedelta(hours=1)
BETWEEN_LOOKS = timedelta(minutes=1)
AFTER_A_FAILURE = timedelta(seconds=10)
PATIENCE_SECONDS = 1.0
"""For another thread that asks the provider the same."""
LIMITS = Limits(connect=3.0, read=5.0, whole=10.0, size=256 * 1024)
"""Somebody waits for each of these requests, and the web server has few threads."""


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


class _Remembered(Generic[T]):
    """Something fetched, kept for `KEPT`. One thread at a time fetches it; whether it failed is remembered too, so that
    a provider that is slow or away does not hold the threads of the web server.
    """

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._known: tuple[T, datetime] | None = None
        self._failed_at: datetime | None = None
        self._looked_again_at: datetime | None = None

    def get(self, fetch: Callable[[], T], at: datetime, *, again: bool = False) -> T:
        if (known := self._known) and not again and at - known[1] < KEPT:
            return known[0]
        with self._one_at_a_time():
            if (later := self._known) and later is not known and at - later[1] < KEPT:
                return later[0]
            if self._failed_at is not None and at - self._failed_at < AFTER_A_FAILURE:
                raise ProviderUnavailable("The provider failed a moment ago, and is not asked again yet.")
            return self._fetched(fetch, at)

    def may_look_again(self, at: datetime) -> bool:
        """Whether the value may be fetched before its time. Who is told yes has taken the turn."""
        with self._one_at_a_time():
            last = self._looked_again_at
            if last is not None and at - last < BETWEEN_LOOKS:
                return False
            self._looked_again_at = at
            return True

    def _fetched(self, fetch: Callable[[], T], at: datetime) -> T:
        try:
            value = fetch()
        except (ProviderUnavailable, AnswerRefused):
            self._failed_at = at
            raise
        self._known = value, at
        return value

    @contextmanager
    def _one_at_a_time(self) -> Iterator[None]:
        if not self._turn.acquire(timeout=PATIENCE_SECONDS):
            raise ProviderUnavailable("The provider is being asked already, and is slow.")
        try:
            yield
        finally:
            self._turn.release()
