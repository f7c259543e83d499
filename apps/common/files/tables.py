"""Tables named on a command line: comma, tab or semicolon separated, plain or gzipped, `-` for standard input."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from apps.common.files.anytable import in_utf8
from apps.common.files.linefiles import name_of
from apps.common.files.tabular import TableFile, open_source

MAX_ID = 200


class Fields:
    """The fields of one record. A value must have the requested type; nothing is converted silently."""

    def __init__(self, source: TableFile, line: int, values: dict) -> None:
        self.source = source
        self.line = line
        self.values = values

    def wrong(self, field: str, message: str) -> Exception:
        return self.source.error(self.line, field, self.values.get(field), message)

    def only(self, known: frozenset[str]) -> None:
        """Reject an unknown field: it is more often a typo than something to ignore."""
        for field in self.values:
            if field not in known:
                message = f"unknown field; known are {', '.join(sorted(known))}"
                raise self.source.error(self.line, field, self.values[field], message)

    def text(self, field: str, *, required: bool = False, limit: int | None = None) -> str:
        """The text exactly as in the file; "" when it is absent and not required."""
        value = self.values.get(field)
        if value is None:
            if not required:
                return ""
            value = ""
        if not isinstance(value, str):
            raise self.wrong(field, "must be text")
        if required and not value.strip():
            raise self.wrong(field, "is missing" if field not in self.values else "is empty")
        if limit and len(value) > limit:
            raise self.wrong(field, f"is longer than {limit} characters")
        return value

    def word(self, field: str, *, limit: int = MAX_ID) -> str:
        """A short text, stripped; "" when absent."""
        return self.text(field, limit=limit).strip()

    def outside_id(self, field: str) -> str:
        """An id. Blanks are rejected, since they separate the columns of run and qrels files."""
        value = self.values.get(field)
        if isinstance(value, str) and 0 < len(value) <= MAX_ID and " " not in value and value.isprintable():
            return value  # every other blank is not printable either
        self.text(field, required=True, limit=MAX_ID)
        raise self.wrong(field, "an id must not contain blanks or control characters")

    def whole(self, field: str, *, least: int = 0) -> int | None:
        """A whole number, written as a JSON integer or in digits; None when absent."""
        value = self.values.get(field)
        if value is None or value == "":
            return None
        if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= 9:
            value = int(value)
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value < 10**9:
            raise self.wrong(field, f"must be a whole number from {least} up")
        return value

    def words(self, field: str) -> list[str]:
        """A list of short texts; a single text is divided at `;`."""
        value = self.values.get(field)
        if value is None:
            return []
        if isinstance(value, str):
            value = value.split(";")
        if not isinstance(value, list) or any(not isinstance(word, str) for word in value):
            raise self.wrong(field, "must be a list of texts")
        return [word.strip() for word in value if word.strip()]

    def mapping(self, field: str) -> dict:
        value = self.values.get(field)
        if value is None:
            return {}
        if not isinstance(value, dict):
            raise self.wrong(field, "must be a JSON object")
        return value


DELIMITERS = ("\t", ",", ";")


@contextmanager
def opened(path: str | Path) -> Iterator[tuple[TableFile, str]]:
    """The file as a source of rows, and its delimiter. `-` is standard input.

    Standard input and pipes are read into memory, since they can be read only once.
    """
    if str(path) == "-":
        yield _in_memory(path, sys.stdin.buffer)
    elif Path(path).exists() and not Path(path).is_file():
        with Path(path).open("rb") as stream:
            yield _in_memory(path, stream)
    else:
        with open_source(path, name=str(path)) as opened_source:
            source = in_utf8(opened_source)
            yield source, delimiter_of(source)


def _in_memory(path: str | Path, stream: BinaryIO) -> tuple[TableFile, str]:
    source = in_utf8(TableFile(name_of(path), io.BytesIO(stream.read())))
    return source, delimiter_of(source)


def delimiter_of(source: TableFile) -> str:
    """The delimiter of the columns: the first of tab, comma and semicolon that occurs in the first line.

    The source is at its beginning, before and after.
    """
    line = source.read_line(1)
    source.rewind()
    return next((mark for mark in DELIMITERS if mark.encode() in line), ",")
