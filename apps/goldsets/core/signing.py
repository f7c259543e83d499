"""Signatures of exports: Ed25519, by a key of the project, over the checksums, and so over every byte.

`signature.json` names the project and the public key; both are part of what is signed. Without Django: `karat verify`
checks it. The library is loaded only where there is a signature, so that the rest is verified with Python alone.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

SIGNATURE = "signature.json"
ALGORITHM = "Ed25519"
MARK = b"karat-signature/1\n"
KEY_BYTES = 32
PREFIX = "karat-key-"


class NoKey(ValueError):
    """What was given as a public key is none; the message is a sentence."""


class BadSignature(ValueError):
    """A signature that is damaged, or is not of these checksums; the message is a sentence."""


class Signer(NamedTuple):
    """Who signed: the project by its slug, and its public key."""

    project: str
    public_key: str

    @property
    def fingerprint(self) -> str:
        return fingerprint(self.public_key)


def new_key() -> str:
    """A private key, as text."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    return _text(Ed25519PrivateKey.generate().private_bytes_raw())


def public_key_of(private_key: str) -> str:
    """The public key as people copy it: `karat-key-` and 43 letters."""
    return PREFIX + _text(_private(private_key).public_key().public_bytes_raw())


def fingerprint(public_key: str) -> str:
    """What people compare by eye: the first sixteen digits of the key's SHA-256, in fours."""
    digits = hashlib.sha256(_public_bytes(public_key)).hexdigest()[:16]
    return " ".join(digits[place : place + 4] for place in range(0, 16, 4))


def parse_public_key(text: str) -> str:
    """The key in a text, which may be a file's with white space around it. Raises NoKey."""
    key = text.strip()
    try:
        _public_bytes(key)
    except ValueError:
        raise NoKey(f"'{key[:60]}' is not a public key of Karat, which is {PREFIX} and 43 letters.") from None
    return key


def signature(checksums: bytes, *, private_key: str, project: str) -> bytes:
    """The signature file for these checksums. The same key and checksums always give the same bytes."""
    signed = _private(private_key).sign(_message(checksums, project))
    return _file(project, public_key_of(private_key), _text(signed))


def signer_of(data: bytes, checksums: bytes) -> Signer:
    """Who signed these checksums, by a signature file. Raises BadSignature.

    That a key signed says nothing about whose it is: compare it with one that came another way.
    """
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        values = json.loads(data)
        project, public_key, signed = values["project"], values["public_key"], values["signature"]
        if data != _file(project, public_key, signed):
            raise BadSignature(f"{SIGNATURE} is not as Karat writes it.")
        key = Ed25519PublicKey.from_public_bytes(_public_bytes(public_key))
        key.verify(_bytes(signed), _message(checksums, project))
    except InvalidSignature:
        raise BadSignature(f"{SIGNATURE} is not a signature of these files.") from None
    except BadSignature:
        raise
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise BadSignature(f"{SIGNATURE} is damaged.") from None
    return Signer(project, public_key)


def _file(project: str, public_key: str, signed: str) -> bytes:
    values = {"algorithm": ALGORITHM, "project": project, "public_key": public_key, "signature": signed}
    return json.dumps(values, indent=2).encode() + b"\n"


def _message(checksums: bytes, project: str) -> bytes:
    return MARK + project.encode() + b"\n" + checksums


def _private(text: str) -> Ed25519PrivateKey:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    return Ed25519PrivateKey.from_private_bytes(_bytes(text))


def _public_bytes(text: str) -> bytes:
    """The bytes of a public key. Raises ValueError for anything but the one way to write it."""
    if not text.startswith(PREFIX):
        raise ValueError("no public key")
    data = _bytes(text.removeprefix(PREFIX))
    if len(data) != KEY_BYTES:
        raise ValueError("no public key")
    return data


def _text(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def _bytes(text: str) -> bytes:
    """The inverse of `_text`. Raises ValueError for a text that it never writes."""
    try:
        data = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except binascii.Error:
        raise ValueError("no base64") from None
    if _text(data) != text:
        raise ValueError("no base64")
    return data
