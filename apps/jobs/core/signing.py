"""Signatures as Standard Webhooks defines them (https://www.standardwebhooks.com)."""

import base64
import binascii
import hmac
from collections.abc import Sequence

PREFIX = "whsec_"
KEY_BYTES = 32


class BadSecret(ValueError):
    """A secret that begins as one of Standard Webhooks and is none. The message is a sentence to show."""


def secret_of(key: bytes) -> str:
    """The key as receivers configure it."""
    return PREFIX + base64.b64encode(key).decode()


def key_of(secret: str) -> bytes:
    """The key in a secret. Any other secret is a key itself, as its bytes."""
    if not secret.startswith(PREFIX):
        return secret.encode()
    try:
        key = base64.b64decode(secret.removeprefix(PREFIX), validate=True)
    except binascii.Error:
        key = b""
    if not key:
        raise BadSecret(f"The secret begins with {PREFIX}, and what follows is not base64.")
    return key


def signatures(keys: Sequence[bytes], *, message_id: str, seconds: int, body: bytes) -> str:
    """The value of `webhook-signature`: one signature for each key, the newest first."""
    signed = f"{message_id}.{seconds}.".encode() + body
    return " ".join(f"v1,{base64.b64encode(hmac.digest(key, signed, 'sha256')).decode()}" for key in keys)
