"""Secrets handed out once and kept as digests."""

import hashlib
import secrets

TOKEN_PREFIX = "karat_"


def new_token() -> str:
    return TOKEN_PREFIX + secrets.token_urlsafe(32)


def new_link_token() -> str:
    return secrets.token_urlsafe(32)


def token_digest(token: str) -> str:
    """SHA-256 of the token. Plain hashing is enough: the token is 256 random bits, not a password."""
    return hashlib.sha256(token.encode()).hexdigest()


def shown_prefix(token: str) -> str:
    return token[:12]
