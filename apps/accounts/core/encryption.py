"""Encryption of stored text: AES-256-GCM with a key derived from SECRET_KEY, which is not in the database."""

import os

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

VERSION = b"\x01"
NONCE_BYTES = 12


class SealBroken(Exception):
    """The key differs from the one used to seal, or the sealed bytes belong to another place."""


def seal(text: str, *, key: str, place: str) -> bytes:
    """The text encrypted for one `place`: it cannot be decrypted for another."""
    nonce = os.urandom(NONCE_BYTES)
    return VERSION + nonce + _cipher(key).encrypt(nonce, text.encode(), place.encode())


def unseal(sealed: bytes, *, key: str, place: str) -> str:
    """The text given to `seal`. Raises SealBroken."""
    nonce, rest = sealed[1 : 1 + NONCE_BYTES], sealed[1 + NONCE_BYTES :]
    if sealed[:1] != VERSION or len(nonce) < NONCE_BYTES:
        raise SealBroken
    try:
        return _cipher(key).decrypt(nonce, rest, place.encode()).decode()
    except InvalidTag:
        raise SealBroken from None


def _cipher(key: str) -> AESGCM:
    derived = HKDF(algorithm=SHA256(), length=32, salt=None, info=b"karat project secrets")
    return AESGCM(derived.derive(key.encode()))
