"""The values of a column in a form that both databases have in common, so that equal rows have equal digests.

Each is a value of JSON: a time is `2026-11-26 23:36:29.123456` in UTC, bytes are base64, a decimal number is a text. A
value of a JSON column stands in a list of one, which tells JSON's null from a missing value.
"""

import base64
import json
import uuid
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from decimal import Decimal
from enum import StrEnum
from typing import Any

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
