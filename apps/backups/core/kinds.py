"""The values of a column in a form that both databases have in common, so that equal rows have equal digests.

Each is a value of JSON: a time is `2026-11-26 23:36:29.123456` in UTC, bytes are base64, a decimal number is a text. A
value of a JSON column stands in a list of one, which tells JSON's null from a missing value.
"""

import base64
import json
import os
import uuid
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from decimal import Decimal
from enum import StrEnum
from typing import Any

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

# The server's keys, encrypted with a passphrase.
#
# The key of the encryption is derived by scrypt (RFC 7914) with the cost that OWASP recommends for passwords, and the
# encryption is AES-256-GCM, which notices a wrong passphrase and any change.

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


Converter = Callable[[Any], Any]


class Kind(StrEnum):
    """What a column holds."""

    INTEGER = "integer"
    REAL = "real"
    TEXT = "text"
    BOOLEAN = "boolean"
    TIME = "time"
    JSON = "json"
    BYTES = "bytes"
    DECIMAL = "decimal"
    UUID = "uuid"


LARGEST_INTEGER = 2**63 - 1


def from_json(text: str) -> list[Any]:
    return [json.loads(text)]


def _plain_time(value: datetime) -> str:
    return str(value.astimezone(UTC).replace(tzinfo=None))


def _decimal(value: Decimal) -> str:
    return format(value.normalize(), "f") if value else "0"


FROM_SQLITE: Mapping[Kind, Converter] = {
    Kind.REAL: float,
    Kind.BOOLEAN: bool,
    Kind.TIME: lambda text: str(datetime.fromisoformat(text)),
    Kind.JSON: from_json,
    Kind.BYTES: lambda value: base64.b64encode(value).decode(),
    Kind.DECIMAL: lambda value: _decimal(Decimal(str(value))),
}
"""From what SQLite returns to the common form; what is not named is in it already."""

FROM_POSTGRESQL: Mapping[Kind, Converter] = {
    Kind.TIME: _plain_time,
    Kind.JSON: from_json,
    Kind.BYTES: lambda value: base64.b64encode(value).decode(),
    Kind.DECIMAL: _decimal,
    Kind.UUID: lambda value: value.hex,
}
"""From what psycopg returns, JSON as text, to the common form."""

FITS: Mapping[Kind, Callable[[Any], bool]] = {
    Kind.INTEGER: lambda value: type(value) is int and abs(value) <= LARGEST_INTEGER,
    Kind.REAL: lambda value: type(value) is float,
    Kind.TEXT: lambda value: type(value) is str,
    Kind.BOOLEAN: lambda value: type(value) is bool,
    Kind.TIME: lambda value: value == str(datetime.fromisoformat(value)),
    Kind.JSON: lambda value: type(value) is list and len(value) == 1,
    Kind.BYTES: lambda value: type(value) is str,
    Kind.DECIMAL: lambda value: type(value) is str and value == _decimal(Decimal(value)),
    Kind.UUID: lambda value: type(value) is str and value == uuid.UUID(value).hex,
}
"""Whether a value has the common form. Some raise what their types raise for a value that has not."""

TO_SQLITE: Mapping[Kind, Converter] = {
    Kind.JSON: lambda value: json.dumps(value[0]),
    Kind.BYTES: base64.b64decode,
}
"""From the common form to what is stored in SQLite."""

TO_POSTGRESQL: Mapping[Kind, Converter] = {
    Kind.TIME: lambda text: f"{text}+00",
    Kind.JSON: lambda value: json.dumps(value[0]),
    Kind.BYTES: base64.b64decode,
    Kind.UUID: uuid.UUID,
}
"""From the common form to what psycopg copies into PostgreSQL."""
