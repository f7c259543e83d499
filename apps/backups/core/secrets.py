"""The server's keys, encrypted with a passphrase.

The key of the encryption is derived by scrypt (RFC 7914) with the cost that OWASP recommends for passwords, and the
encryption is AES-256-GCM, which notices a wrong passphrase and any change.
"""

import json
import os
from collections.abc import Mapping

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

VERSION = b"\x01"
SALT_BYTES, NONCE_BYTES, KEY_BYTES = 16, 12, 32
COST, BLOCK, LANES = 2**17, 8, 1
SHORTEST = 12
"""Characters of a passphrase. Who has the file may try as often as they like."""


class WrongPassphrase(Exception):
    """The passphrase is another one, or the encrypted keys were changed."""


def seal_keys(keys: Mapping[str, str], passphrase: str) -> bytes:
    """The keys by name, encrypted."""
    salt, nonce = os.urandom(SALT_BYTES), os.urandom(NONCE_BYTES)
    text = json.dumps(dict(keys)).encode()
    return VERSION + salt + nonce + _cipher(passphrase, salt).encrypt(nonce, text, VERSION)


def unseal_keys(sealed: bytes, passphrase: str) -> dict[str, str]:
    """The keys that `seal_keys` was given. Raises WrongPassphrase."""
    version, rest = sealed[:1], sealed[1:]
    salt, nonce, content = rest[:SALT_BYTES], rest[SALT_BYTES:][:NONCE_BYTES], rest[SALT_BYTES + NONCE_BYTES :]
    if version != VERSION or len(nonce) < NONCE_BYTES:
        raise WrongPassphrase
    try:
        keys: dict[str, str] = json.loads(_cipher(passphrase, salt).decrypt(nonce, content, VERSION))
    except InvalidTag:
        raise WrongPassphrase from None
    return keys


def _cipher(passphrase: str, salt: bytes) -> AESGCM:
    derived = Scrypt(salt=salt, length=KEY_BYTES, n=COST, r=BLOCK, p=LANES)
    return AESGCM(derived.derive(passphrase.encode()))
