"""Rows as lines of text, and the digest of a table: equal for equal rows, whichever database they are in.

A value has a form that both databases have in common, which is one of JSON: a time is `2026-11-26 23:36:29.123456` in
UTC, bytes are base64, a decimal number is a text. A value of a JSON column stands in a list of one, which tells JSON's
null from a missing value. The server's keys are not rows: they are encrypted with a passphrase.
"""

import base64
import hashlib
import json
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from enum import StrEnum
from typing import Any, BinaryIO, NamedTuple

Converter = Callable[[Any], Any]


class Kind(StrEnum):
    """What a column holds."""

    INTEGER = "integer"
    REAL = "real"
    TEXT = "text"
    BOOLEAN = "boolean"
    TIME = "time"
    DATE = "date"
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
    Kind.DATE: str,
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
    Kind.DATE: lambda value: value == str(date.fromisoformat(value)),
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

EXPONENT_FROM = 1e16
"""From here on Python writes a whole float with an exponent, and PostgreSQL without one, as an integer."""


def number(digits: str) -> float | int:
    """A number of JSON that is no integer, as PostgreSQL would return it: it keeps neither exponents nor -0."""
    value = float(digits)
    if value.is_integer() and abs(value) >= EXPONENT_FROM:
        return int(Decimal(digits))
    return value or 0.0


_write = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
_write_sorted = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), sort_keys=True).encode
_read = json.JSONDecoder(parse_float=number).decode
ENCODING_ERRORS = "surrogatepass"
PIECE = 1 << 20
MOST_LINE = 64 << 20
"""Bytes of a row. The largest that Karat writes, all grades of a million pairs, has a quarter of it."""
MOST_VALUES = 5_000_000
"""Of a row. Each may take many times as much memory as its bytes."""
ROWS_AT_ONCE, BYTES_AT_ONCE = 1_000, 8 << 20
NO_ROW = (ValueError, TypeError, ArithmeticError, RecursionError)
"""What a line raises that is no row of its table."""

Rows = list[list[Any]]


def quoted(name: str) -> str:
    """The name of a table or a column, in SQL."""
    return '"' + name.replace('"', '""') + '"'


class Column(NamedTuple):
    """A column by its name in the database."""

    name: str
    kind: Kind


class Table(NamedTuple):
    """A table with the columns that are carried, and the name of its key, by which its rows are ordered."""

    name: str
    key: str
    columns: tuple[Column, ...]

    @property
    def has_json(self) -> bool:
        return any(column.kind == Kind.JSON for column in self.columns)


class TableState(NamedTuple):
    """How many rows a table has, and the SHA-256 of their lines in the order of keys."""

    rows: int
    sha256: str


class Lines:
    """Turns the rows of a table, in the order of keys, into lines, and takes their digest on the way.

    A value of a JSON column is kept as it is, its keys in their order. The digest does not depend on that order, nor on
    how a number is written, because PostgreSQL has ways of its own.
    """

    def __init__(self, table: Table) -> None:
        self._has_json = table.has_json
        self._digest = hashlib.sha256()
        self.rows = 0

    def of(self, rows: Iterable[Sequence[Any]]) -> bytes:
        """The lines of the next rows, whose values have the common form."""
        lines = [_write(row) for row in rows]
        self.rows += len(lines)
        text = _text(lines)
        self._digest.update(_text([_write_sorted(_read(line)) for line in lines]) if self._has_json else text)
        return text

    @property
    def state(self) -> TableState:
        return TableState(self.rows, self._digest.hexdigest())


def _text(lines: Sequence[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode(errors=ENCODING_ERRORS)


def converters(table: Table, by_kind: Mapping[Kind, Converter]) -> list[tuple[int, Converter]]:
    """Each column, by its place, whose values have to be converted, with how."""
    return [(place, by_kind[column.kind]) for place, column in enumerate(table.columns) if column.kind in by_kind]


def converted(rows: Iterable[Sequence[Any]], how: Sequence[tuple[int, Converter]]) -> list[list[Any]]:
    """The rows with their values converted; a missing value stays one."""
    return [_converted(list(row), how) for row in rows]


def _converted(row: list[Any], how: Sequence[tuple[int, Converter]]) -> list[Any]:
    for place, convert in how:
        if row[place] is not None:
            row[place] = convert(row[place])
    return row


def read_rows(stream: BinaryIO, table: Table) -> Iterator[Rows]:
    """The rows that `Lines` has written, some at a time: as many as fit into the memory that one may take.

    Raises one of NO_ROW for a line that is no row of this table, or is longer than any.
    """
    rows: Rows = []
    size = 0
    for line in _lines_in(stream):
        rows.append(_row(line, table))
        size += len(line)
        if len(rows) == ROWS_AT_ONCE or size > BYTES_AT_ONCE:
            yield rows
            rows, size = [], 0
    if rows:
        yield rows


def _lines_in(stream: BinaryIO) -> Iterator[bytes]:
    begun: list[bytes] = []
    while piece := stream.read(PIECE):
        first, *others = piece.split(b"\n")
        begun.append(first)
        if sum(map(len, begun)) > MOST_LINE:
            raise ValueError("a line is longer than any row")
        if others:
            yield b"".join(begun)
            yield from others[:-1]
            begun = others[-1:]
    if any(begun):
        raise ValueError("the last line has no end")


def _row(line: bytes, table: Table) -> list[Any]:
    if line.count(b",") + line.count(b"[") + line.count(b"{") > MOST_VALUES:
        raise ValueError("a line has more values than any row")
    row = json.loads(line.decode(errors=ENCODING_ERRORS))
    if type(row) is not list or len(row) != len(table.columns):
        raise ValueError("a line is no row")
    for column, value in zip(table.columns, row, strict=True):
        if value is not None and not FITS[column.kind](value):
            raise ValueError(f"{column.name} does not hold this")
    return row
