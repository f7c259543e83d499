"""The provider over HTTP: its documents, its keys, and the exchange of a code for an ID token, which is verified.

Documents and keys are remembered for an hour by each process. A token signed with a key that is not among them leads
to one more look at the keys, at most once a minute, so that nobody makes Karat ask the provider again and again.
"""

import base64
import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Generic, TypeVar
from urllib.parse import quote, urlencode

from joserfc import jws, jwt
from joserfc.errors import JoseError
from joserfc.jwk import ECKey, OKPKey, RSAKey

from apps.accounts.core.addresses import NoAddress, plain_address
from apps.accounts.core.oidc.configuration import SingleSignOn
from apps.accounts.core.oidc.flow import ALGORITHMS, AnswerRefused, Claims, Metadata, ProviderUnavailable, read_metadata
from apps.common.web.addresses import BadAddress, Opening, parse_url
from apps.common.web.outbound import Client, HttpAnswer, OutboundError, RequestLimits

LEEWAY_SECONDS = 60
LONGEST_TOKEN = 64 * 1024
LONGEST_SUBJECT = 255
LONGEST_NAME = 120
SHORTEST_RSA_BITS = 2_048
MOST_KEYS = 100

Key = RSAKey | ECKey | OKPKey
_KINDS: Mapping[str, type[Key]] = {"RSA": RSAKey, "EC": ECKey, "OKP": OKPKey}


@dataclass(frozen=True)
class TokenHead:
    """Which key has signed, and how. Nothing of it is verified yet."""

    algorithm: str
    key_id: str


def head_of(token: str) -> TokenHead:
    """The head of a token. Raises AnswerRefused for one that is too long, is not signed, or by no allowed algorithm."""
    if len(token) > LONGEST_TOKEN:
        raise AnswerRefused("token_size")
    try:
        header = jws.extract_compact(token.encode(), registry=_registry()).headers()
    except (JoseError, ValueError):
        raise AnswerRefused("token_form") from None
    algorithm, key_id = header.get("alg"), header.get("kid", "")
    if algorithm not in ALGORITHMS:
        raise AnswerRefused("algorithm")
    if not isinstance(key_id, str):
        raise AnswerRefused("token_form")
    return TokenHead(algorithm, key_id)


def keys_in(document: Mapping[str, Any]) -> dict[str, list[Key]]:
    """The public keys for signatures in a JWKS by their id, "" for those without one. What is no such key is skipped.

    Raises AnswerRefused for a document that is no JWKS.
    """
    rows = document.get("keys")
    if not isinstance(rows, list) or len(rows) > MOST_KEYS:
        raise AnswerRefused("keys")
    found: dict[str, list[Key]] = {}
    for row in rows:
        key = _key(row)
        if key is not None:
            found.setdefault(str(row.get("kid", "")), []).append(key)
    return found


def key_for(head: TokenHead, keys: Mapping[str, list[Key]]) -> Key | None:
    """The one key with the id of the head, or the only key when the head names none."""
    if head.key_id:
        named = keys.get(head.key_id, [])
    else:
        named = [key for group in keys.values() for key in group]
    return named[0] if len(named) == 1 else None


def claims_in(token: str, key: Key, configuration: SingleSignOn, *, nonce: str, at: datetime) -> Claims:
    """What a token says, when it was signed with the key, is for us, is current, and answers this sign-in.

    So OpenID Connect Core, 3.1.3.7. Raises AnswerRefused with the name of the claim that is wrong, or `signature`.
    """
    try:
        claims = jwt.decode(token, key, registry=_registry()).claims
    except (JoseError, ValueError):
        raise AnswerRefused("signature") from None
    wanted = jwt.JWTClaimsRegistry(
        now=int(at.timestamp()),
        leeway=LEEWAY_SECONDS,
        iss={"essential": True, "value": configuration.issuer},
        sub={"essential": True},
        aud={"essential": True, "value": configuration.client_id},
        exp={"essential": True},
        iat={"essential": True},
        nonce={"essential": True, "value": nonce},
    )
    try:
        wanted.validate(claims)
    except JoseError as wrong:
        raise AnswerRefused(getattr(wrong, "claim", "") or "claims") from None
    _check_party(claims, configuration.client_id)
    if not isinstance(claims["nonce"], str):
        raise AnswerRefused("nonce")
    return _read(claims, configuration)


def _check_party(claims: Mapping[str, Any], client_id: str) -> None:
    """A token for several audiences says to which of them it was issued, and that has to be us."""
    is_for_several = isinstance(claims["aud"], list) and len(claims["aud"]) != 1
    if (is_for_several and "azp" not in claims) or claims.get("azp", client_id) != client_id:
        raise AnswerRefused("azp")


def _read(claims: Mapping[str, Any], configuration: SingleSignOn) -> Claims:
    subject = claims["sub"]
    if not (0 < len(subject) <= LONGEST_SUBJECT and subject.isascii() and subject.isprintable()):
        raise AnswerRefused("sub")
    address = _address(_text(claims.get("email")))
    left_out = claims.get("_claim_names")
    return Claims(
        issuer=claims["iss"],
        subject=subject,
        email=address if claims.get("email_verified") is True else "",
        address=address,
        name=" ".join(_text(claims.get("name")).split())[:LONGEST_NAME],
        groups=_groups(claims.get(configuration.groups_claim)),
        has_too_many_groups=isinstance(left_out, dict) and configuration.groups_claim in left_out,
    )


def _address(text: str) -> str:
    """In its one form; "" for what cannot be the address of an account or an invitation."""
    try:
        return plain_address(text)
    except NoAddress:
        return ""


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _groups(value: Any) -> frozenset[str]:
    rows = value if isinstance(value, list) else [value]
    return frozenset(row for row in rows if isinstance(row, str))


def _key(row: Any) -> Key | None:
    """A public key for signatures, or None for any other: symmetric, for encryption, too short, of an unknown kind."""
    kind = _KINDS.get(row.get("kty", "")) if isinstance(row, dict) and isinstance(row.get("kty"), str) else None
    if kind is None or row.get("use", "sig") != "sig" or "d" in row or _is_short(row):
        return None
    try:
        return kind.import_key({name: value for name, value in row.items() if name not in ("use", "key_ops")})
    except (JoseError, ValueError, TypeError, KeyError):
        return None


def _is_short(row: Mapping[str, Any]) -> bool:
    """Whether it is an RSA key that is too short, by its modulus: the library warns of those and takes them."""
    if row["kty"] != "RSA":
        return False
    try:
        modulus = base64.urlsafe_b64decode(f"{row['n']}==")
    except (ValueError, TypeError, KeyError):
        return True
    return int.from_bytes(modulus, "big").bit_length() < SHORTEST_RSA_BITS


def _registry() -> jws.JWSRegistry:
    registry = jws.JWSRegistry(algorithms=ALGORITHMS, strict_check_header=False)  # heads may say more than we know
    registry.max_header_length = 4_096
    registry.max_payload_length = LONGEST_TOKEN
    registry.max_signature_length = 2_048
    return registry


T = TypeVar("T")
KEPT = timedelta(hours=1)
BETWEEN_LOOKS = timedelta(minutes=1)
AFTER_A_FAILURE = timedelta(seconds=10)
PATIENCE_SECONDS = 1.0
"""For another thread that asks the provider the same."""
LIMITS = RequestLimits(connect=3.0, read=5.0, whole=10.0, size=256 * 1024)
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
