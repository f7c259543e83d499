"""Canonical bytes of values, and digests of them."""

import hashlib
import json
from collections.abc import Iterable
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

_encoder = json.JSONEncoder(
    ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False, check_circular=False
)


def canonical_text(value: Any) -> str:
    """The one JSON form of a plain value: keys sorted by code point, no spaces, no NaN.

    Raises ValueError for NaN and infinities, which have no JSON form.
    """
    return _encoder.encode(value)


def canonical_json(value: Any) -> bytes:
    """The one byte form of a plain value: its canonical text in UTF-8."""
    return canonical_text(value).encode()


def sha256_hex(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def digest_of(value: Any) -> str:
    return sha256_hex(canonical_json(value))


def digest_of_lines(lines: Iterable[str]) -> str:
    """SHA-256 over the lines, each ended by one `\\n`, in the order given. The empty case is the digest of b""."""
    digest = hashlib.sha256()
    for line in lines:
        digest.update(line.encode())
        digest.update(b"\n")
    return digest.hexdigest()


def plain_numbers(value: Any) -> Any:
    """The value with every integral float as an int: PostgreSQL returns 1e22 as digits, SQLite as a float."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {key: plain_numbers(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [plain_numbers(part) for part in value]
    return value


@lru_cache(maxsize=1_024)  # the rows of one import have one time
def utc_text(at: datetime) -> str:
    """A time as it enters digests: UTC, ISO 8601, always with microseconds."""
    return at.astimezone(UTC).isoformat(timespec="microseconds")
