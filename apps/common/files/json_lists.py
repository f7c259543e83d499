"""The objects of one long JSON list, read one after another, so that memory holds one of them.

The list is the file itself, or the value of a field of the one object that the file is. JSONL is read too.
"""

import codecs
import re
from collections.abc import Generator, Iterator
from contextlib import closing
from typing import Any

from apps.common.errors import InputError
from apps.common.files.faults import ErrorList
from apps.common.files.jsonvalues import parse_object
from apps.common.files.tabular import TableFile, read_jsonl

SPACE = " \t\r\n"
NOT_JSON = "this is not JSON, or it is cut off"
OPENING = {"}": "{", "]": "["}
_TOKEN = re.compile(r'"[^"\\\n]*(?:\\.[^"\\\n]*)*"|["\[\]{}]')
"""A whole text, a bracket, or the quote of a text that does not end in what was read so far, or in its line."""


def read_list(source: TableFile, errors: ErrorList, *, field: str = "") -> Iterator[tuple[int, dict[str, Any]]]:
    """(number from 1, object) of the list that the file is, or that `field` of its one object has.

    An object with a mistake is added to `errors`. Raises InputError for what cannot be read further.
    """
    for number, text in enumerate(_Scan(source, field).objects(), start=1):
        try:
            yield number, parse_object(text, source.caps.nesting)
        except ValueError as error:
            errors.add(source.error(number, "", text, str(error)))


def read_objects(source: TableFile, errors: ErrorList) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects of a list, or of a file with one on each line; numbers are then those of the lines."""
    if source.head(64).removeprefix(codecs.BOM_UTF8).lstrip().startswith(b"["):
        yield from read_list(source, errors)
    else:
        yield from read_jsonl(source, errors)


class _Scan:
    """Finds where the objects of the list begin and end, by brackets outside of texts."""

    def __init__(self, source: TableFile, field: str) -> None:
        self.source = source
        self.field = field
        self.opened = ""
        """The brackets that are open."""
        self.is_over = False
        self.inside = 0
        """The depth of the objects of the list while it is open, else 0."""
        self.named = ""
        self.done = 0

    @property
    def depth(self) -> int:
        return len(self.opened)

    def objects(self) -> Iterator[str]:
        text, place, kept = "", 0, 0
        with closing(self._texts()) as texts:
            for piece in texts:
                text, place, kept = text[kept:] + piece, place - kept, 0
                if len(text) > self.source.caps.line_bytes + len(piece):
                    raise self._error(f"the record is longer than {self.source.caps.line_bytes:,} bytes")
                for token in _TOKEN.finditer(text, place):
                    if token.group() == '"':
                        if "\n" in text[token.start() :]:
                            raise self._error(f"{NOT_JSON}: a quotation mark is not closed in its line")
                        break
                    place = token.end()
                    if self._closes(text, kept, token):
                        yield text[kept:place].lstrip(SPACE + ",")
                        self.done += 1
                        kept = place
                    elif self.depth < self.inside or not self.inside:
                        kept = place
        if self.depth or text[kept:].strip(SPACE):
            raise self._error(NOT_JSON)

    def _closes(self, text: str, kept: int, token: re.Match[str]) -> bool:
        """Take one token into account; whether it ends an object of the list."""
        mark = token.group()
        if self.is_over:
            raise self._error(NOT_JSON)
        if mark in "{[":
            self.opened += mark
            if self.inside and self.depth == self.inside:
                self._refuse_between(text[kept : token.start()], mark, comma="," if self.done else "")
            elif not self.inside and mark == "[" and self._is_list():
                self.inside = self.depth + 1
        elif mark in "}]":
            if self.opened[-1:] != OPENING[mark]:
                raise self._error(NOT_JSON)
            self.opened = self.opened[:-1]
            self.is_over = not self.opened
            if self.inside and self.depth == self.inside - 1:
                return True
            if self.inside and self.depth < self.inside - 1:
                self._refuse_between(text[kept : token.start()], "{")
                self.inside = 0
        elif self.inside and self.depth == self.inside - 1:
            raise self._error("the list has a value that is no object")
        elif self.depth == 1:
            self.named = mark[1:-1]
        return False

    def _is_list(self) -> bool:
        if self.done:
            return False
        return self.depth == 1 if not self.field else self.depth == 2 and self.named == self.field

    def _refuse_between(self, between: str, mark: str, comma: str | None = None) -> None:
        """Refuse what is neither space nor the comma between two objects of the list; one may stand at its end."""
        if mark != "{" or between.strip(SPACE) not in ({"", ","} if comma is None else {comma}):
            raise self._error("the list has a value that is no object")

    def _texts(self) -> Generator[str]:
        decoder = codecs.getincrementaldecoder("utf-8-sig")()
        try:
            with closing(self.source.blocks()) as blocks:
                for block in blocks:
                    yield decoder.decode(block)
            yield decoder.decode(b"", final=True)
        except UnicodeDecodeError as error:
            raise self._error("the file is not UTF-8; save it as UTF-8") from error

    def _error(self, message: str) -> InputError:
        return self.source.error(self.done + 1, "", "", message)
