"""YAML: a list of entries, read event by event so that memory holds one entry, and written the same way each time.

Only what JSON has too is accepted. Aliases and tags are rejected: aliases make bombs, tags make objects. A plain scalar
is text, but for `null`, `~`, `true` and `false`; numbers are parsed where a field needs one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

import yaml
from yaml import events as made

from apps.common.errors import InputError
from apps.common.files.faults import ErrorList
from apps.common.files.tabular import TableFile, read_lines
from apps.triples.formats.entry import TripleRecord

MOST_NODES = 5_000
TEXT_TAG = "tag:yaml.org,2002:str"
PLAIN = {"": None, "~": None, "null": None, "true": True, "false": False}
INDENT = "  "
_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


# Reading -----------------------------------------------------------------------------------------------------------


class _Feed:
    """A file for the parser: line by line, each validated by our own reader."""

    def __init__(self, source: TableFile) -> None:
        self._lines = read_lines(source)

    def read(self, size: int = -1) -> bytes:
        for _, text in self._lines:
            return text.encode() + b"\n"
        return b""


def read(source: TableFile, errors: ErrorList) -> Iterator[TripleRecord]:
    """The entries of a file. Raises InputErrors where a file stops being YAML: nothing after it can be read."""
    parsed = _Events(source)
    has_entries = False
    for event in parsed:
        if isinstance(event, made.SequenceStartEvent):
            while not isinstance(event := next(parsed), made.SequenceEndEvent):
                has_entries = True
                yield from _entry(parsed, event, errors)
        elif isinstance(event, made.NodeEvent):
            has_entries = True
            yield from _entry(parsed, event, errors)
    if not has_entries:
        raise source.error(None, "", "", "the file contains no entries")


class _Events:
    """The parser's events; its errors become ours."""

    def __init__(self, source: TableFile) -> None:
        self.source = source
        self._events = yaml.parse(_Feed(source), Loader=_Loader)

    def __iter__(self) -> _Events:
        return self

    def __next__(self) -> Any:
        try:
            return next(self._events)
        except yaml.MarkedYAMLError as error:
            line = None if error.problem_mark is None else error.problem_mark.line + 1
            raise self.source.error(line, "", "", f"this is not YAML: {error.problem}") from error
        except yaml.YAMLError as error:
            message = "this is not YAML: a character that YAML does not allow; write it as an escape in quotes"
            raise self.source.error(None, "", "", message) from error


def _entry(events: _Events, event: Any, errors: ErrorList) -> Iterator[TripleRecord]:
    """The record that begins with `event`; its first fault is added to `errors` after all of it is read."""
    building = _Building(events)
    line = event.start_mark.line + 1
    value = building.value(event, "", 1)
    if building.fault is not None:
        errors.add(building.fault)
    elif not isinstance(value, dict):
        errors.add(events.source.error(line, "", value, "an entry is a list item with fields of its own"))
    else:
        yield TripleRecord(line, value, building.lines)


def _line(event: Any) -> int:
    return event.start_mark.line + 1


class _Building:
    """Builds the values of one entry from events. The first fault is stored; reading continues after it."""

    def __init__(self, events: _Events) -> None:
        self.events = events
        self.source = events.source
        self.lines: dict[str, int] = {}
        self.fault: InputError | None = None
        self._nodes = 0
        self._size = 0

    def value(self, event: Any, path: str, depth: int) -> Any:
        self._count(event, depth)
        self.lines[path] = _line(event)
        if isinstance(event, made.AliasEvent):
            return self._refuse(event, path, f"*{event.anchor}", "aliases are not read; write the value out")
        if event.tag not in (None, TEXT_TAG):
            self._refuse(event, path, event.tag, "tags are not read; leave it out")
        if isinstance(event, made.ScalarEvent):
            return self._scalar(event, path)
        if isinstance(event, made.SequenceStartEvent):
            return self._list(path, depth)
        return self._mapping(path, depth)

    def _list(self, path: str, depth: int) -> list[Any]:
        values: list[Any] = []
        while not isinstance(event := next(self.events), made.SequenceEndEvent):
            values.append(self.value(event, f"{path}[{len(values) + 1}]", depth + 1))
        return values

    def _mapping(self, path: str, depth: int) -> dict[str, Any]:
        values: dict[str, Any] = {}
        while not isinstance(event := next(self.events), made.MappingEndEvent):
            if not isinstance(event, made.ScalarEvent):
                self._refuse(event, path, "", "the name of a field is a text")
                self.value(event, path, depth + 1)
                self.value(next(self.events), path, depth + 1)
                continue
            inner = f"{path}.{event.value}" if path else event.value
            if event.value in values:
                self._refuse(event, inner, "", "the field is there twice")
            values[event.value] = self.value(next(self.events), inner, depth + 1)
            self.lines[inner] = _line(event)
        return values

    def _scalar(self, event: Any, path: str) -> Any:
        text = event.value
        if event.implicit[0] and text in PLAIN:
            return PLAIN[text]
        if "\0" in text or any("\ud800" <= letter <= "\udfff" for letter in text):
            return self._refuse(event, path, "", "a text contains a character that cannot be stored")
        return text

    def _count(self, event: Any, depth: int) -> None:
        """Raises at once: a file that grows like this is not read any further."""
        self._nodes += 1
        self._size += len(event.value) if isinstance(event, made.ScalarEvent) else 0
        caps = self.source.caps
        line = event.start_mark.line + 1
        if depth > caps.nesting:
            raise self.source.error(line, "", "", f"the YAML is nested deeper than {caps.nesting} levels")
        if self._nodes > MOST_NODES or self._size > caps.line_bytes:
            most = f"{MOST_NODES:,} values or {caps.line_bytes:,} characters"
            raise self.source.error(line, "", "", f"the entry has more than {most}")

    def _refuse(self, event: Any, path: str, value: object, message: str) -> None:
        if self.fault is None:
            self.fault = self.source.error(event.start_mark.line + 1, path, value, message)


# Writing -----------------------------------------------------------------------------------------------------------

_PRINTABLE = "\t\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff"
_UNPRINTABLE = re.compile(f"[^{_PRINTABLE}]")
_BLOCK_TEXT = re.compile(f"(?:(?![\\s\ufeff])[{_PRINTABLE}]+)?(?:\n[{_PRINTABLE}]*)+")


def write(entries: Iterable[dict[str, Any]]) -> Iterator[bytes]:
    """A list of entries; `[]` when there are none. Texts are in double quotes, those of several lines are blocks."""
    empty = True
    for values in entries:
        empty = False
        text = "\n".join(_mapping(values, INDENT))
        yield f"- {text.removeprefix(INDENT)}\n".encode()
    if empty:
        yield b"[]\n"


def _mapping(values: dict[str, Any], indent: str) -> Iterator[str]:
    for name, value in values.items():
        yield from _field(f"{indent}{name}:", value, indent + INDENT)


def _field(head: str, value: Any, indent: str) -> Iterator[str]:
    if isinstance(value, dict) and value:
        yield head
        yield from _mapping(value, indent)
    elif isinstance(value, list) and any(isinstance(item, (dict, str)) for item in value):
        yield head
        for item in value:
            yield from _item(item, indent)
    elif isinstance(value, str) and _fits_block(value):
        yield f"{head} |-"
        yield from (f"{indent}{line}" if line else "" for line in value.split("\n"))
    else:
        yield f"{head} {_scalar(value)}"


def _item(value: Any, indent: str) -> Iterator[str]:
    if isinstance(value, dict):
        first, *rest = _mapping(value, indent + INDENT)
        yield f"{indent}- {first.removeprefix(indent + INDENT)}"
        yield from rest
    else:
        yield from _field(f"{indent}-", value, indent + INDENT)


def _fits_block(text: str) -> bool:
    """Whether a block scalar preserves the text: no line ends or begins with blanks, and no character is special."""
    if "\n" not in text or not _BLOCK_TEXT.fullmatch(text):
        return False
    lines = text.split("\n")
    return bool(lines[0] and lines[-1]) and all(line == line.strip() for line in lines)


def _scalar(value: Any) -> str:
    if isinstance(value, str):
        return _UNPRINTABLE.sub(_escaped, json.dumps(value, ensure_ascii=False))
    return json.dumps(value, ensure_ascii=False)


def _escaped(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
