"""ID tokens: the signature, then every claim that says for whom, by whom and when (OpenID Connect Core, 3.1.3.7)."""

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from joserfc import jws, jwt
from joserfc.errors import JoseError
from joserfc.jwk import ECKey, OKPKey, RSAKey

from apps.accounts.core.addresses import NoAddress, plain_address
from apps.accounts.core.oidc.claims import Claims
from apps.accounts.core.oidc.configuration import SingleSignOn
from apps.accounts.core.oidc.metadata import ALGORITHMS
from apps.accounts.core.oidc.refusals import AnswerRefused

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

    Raises AnswerRefused with the name of the claim that is wrong, or `signature`.
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
