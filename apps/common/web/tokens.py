"""Secrets that are shown once and stored as digests, and those that the operator has set."""

import hashlib
import json
import secrets
from base64 import urlsafe_b64encode

from django.http import HttpRequest
from django.utils.crypto import constant_time_compare, salted_hmac

TOKEN_PREFIX = "karat_"


def new_token(key: str = "", *about: object) -> str:
    return TOKEN_PREFIX + new_link_token(key, *about)


def new_link_token(key: str = "", *about: object) -> str:
    """A secret of 256 bits: random, or, for the key of a form, the same one whenever that form is sent.

    So a form that is sent twice can show the same secret again although only its digest is stored. `about` is the
    form's other content: with other content it is another secret. It cannot be derived from the key without SECRET_KEY.
    """
    if not key:
        return secrets.token_urlsafe(32)
    mac = salted_hmac("apps.common.web.tokens", json.dumps([key, *about]), algorithm="sha256")
    return urlsafe_b64encode(mac.digest()).decode().rstrip("=")


def token_digest(token: str) -> str:
    """SHA-256 of the token. Plain hashing is enough: the token is 256 random bits, not a password."""
    return hashlib.sha256(token.encode()).hexdigest()


def shown_prefix(token: str) -> str:
    return token[:12]


def is_bearer_of(token: str, request: HttpRequest) -> bool:
    """Whether the request carries this token of the operator's; False for everybody where none is set."""
    kind, _, given = request.headers.get("Authorization", "").partition(" ")
    return bool(token) and kind.lower() == "bearer" and constant_time_compare(given.strip(), token)
