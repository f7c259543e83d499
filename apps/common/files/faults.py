"""The list of mistakes in a file, grouped and counted, as pages, downloads and the command line show it."""

import dataclasses
import re
from collections.abc import Iterable, Iterator
from typing import Any

from apps.common.errors import InputError, InputErrors
from apps.common.files.csvsafe import csv_lines
from apps.common.text.wording import harmless

MOST_GROUPS = 100
"""Mistakes of further kinds are not grouped, so that memory stays bounded."""
MOST_LINES = 5
_VARYING = re.compile(r"'[^']*'|“[^”]*”|\d[\d,.]*")


@dataclasses.dataclass
class FaultGroup:
    """Mistakes with the same field and message. Field, message and value are those of the first one."""

    field: str
    message: str
    value: str
    count: int = 0
    lines: list[int] = dataclasses.field(default_factory=list)


class FaultGroups:
    """Groups mistakes as they are added; exact counts, the first lines of each."""

    def __init__(self) -> None:
        self._groups: dict[tuple[str, str], FaultGroup] = {}

    def add(self, error: InputError) -> None:
        key = _shape(error)
        group = self._groups.get(key)
        if group is None:
            if len(self._groups) >= MOST_GROUPS:
                return
            group = self._groups[key] = FaultGroup(error.field, error.message, error.value)
        group.count += 1
        if error.line is not None and len(group.lines) < MOST_LINES:
            group.lines.append(error.line)

    def absorb(self, other: "FaultGroups") -> None:
        """Add the mistakes that another reader of the same file has found."""
        for key, theirs in other._groups.items():
            ours = self._groups.setdefault(key, FaultGroup(theirs.field, theirs.message, theirs.value))
            ours.count += theirs.count
            ours.lines = sorted([*ours.lines, *theirs.lines])[:MOST_LINES]

    def __iter__(self) -> Iterator[FaultGroup]:
        """Largest first; equal ones in the order of reading."""
        return iter(sorted(self._groups.values(), key=lambda group: -group.count))

    def as_json(self) -> list[dict[str, Any]]:
        return [dataclasses.asdict(group) for group in self]


def _shape(error: InputError) -> tuple[str, str]:
    """Field and message without what differs from line to line: the value, quoted words, numbers."""
    message = error.message.replace(error.value, "…") if error.value else error.message
    return _VARYING.sub("…", error.field), _VARYING.sub("…", message)


MAX_LISTED = 200
MOST_LISTED = 10
"""How many mistakes a command without a database lists for one file."""
MAX_SHOWN_VALUE = 80
COLUMNS = ("file", "line", "field", "value", "message")


class ErrorList:
    """Mistakes in the order of reading: the first `limit` in full, all of them counted by kind.

    A warning does not stop an import.
    """

    def __init__(self, limit: int = MAX_LISTED) -> None:
        self.limit = limit
        self.listed: list[InputError] = []
        self.total = 0
        self.warnings: list[InputError] = []
        self.warnings_total = 0
        self.groups = FaultGroups()
        self.warning_groups = FaultGroups()

    def add(self, error: InputError) -> None:
        self.total += 1
        self.groups.add(error)
        if len(self.listed) < self.limit:
            self.listed.append(error)

    def warn(self, warning: InputError) -> None:
        self.warnings_total += 1
        self.warning_groups.add(warning)
        if len(self.warnings) < self.limit:
            self.warnings.append(warning)

    def absorb(self, other: "ErrorList") -> None:
        """Add the mistakes that another reader of the same file has found; not its warnings."""
        self.total += other.total
        self.groups.absorb(other.groups)
        self.listed += other.listed[: max(0, self.limit - len(self.listed))]

    def absorb_warnings(self, other: "ErrorList") -> None:
        """Add the warnings of another reader."""
        self.warnings_total += other.warnings_total
        self.warning_groups.absorb(other.warning_groups)
        self.warnings += other.warnings[: max(0, self.limit - len(self.warnings))]

    def sort(self) -> None:
        """Sort the list by line: a reader that reads ahead adds mistakes of later lines first."""
        for errors in (self.listed, self.warnings):
            errors.sort(key=lambda error: error.line or 0)

    def __bool__(self) -> bool:
        return self.total > 0

    def __len__(self) -> int:
        return self.total

    def __iter__(self) -> Iterator[InputError]:
        return iter(self.listed)

    @property
    def unlisted(self) -> int:
        return self.total - len(self.listed)


def fault(file: str, line: int | None, field: str, value: object, message: str) -> InputError:
    """An InputError whose value can be shown: one line of printable characters, cut at 80."""
    return InputError(file, line or None, field, shown(value), message)


def shown(value: object) -> str:
    text = "" if value is None else str(value)[: MAX_SHOWN_VALUE + 1]
    text = "".join(letter if letter.isprintable() else "�" for letter in text)
    return text if len(text) <= MAX_SHOWN_VALUE else text[: MAX_SHOWN_VALUE - 1] + "…"


def as_line(error: InputError) -> str:
    """The error as one line for a terminal: file, line, field, value, message."""
    if error.value and error.value not in error.message and error.value not in error.field:
        error = InputError(error.file, error.line, error.field, "", f"'{error.value}': {error.message}")
    return harmless(str(error))


def all_of(errors: ErrorList) -> InputErrors:
    """The mistakes of one file, sorted by line, as an exception."""
    errors.sort()
    return InputErrors(list(errors), unlisted=errors.unlisted)


def as_lines(fault: InputError | InputErrors) -> Iterator[str]:
    """The mistakes as lines for a terminal: one line each, then the number of unlisted ones."""
    listed = fault.errors if isinstance(fault, InputErrors) else [fault]
    yield from map(as_line, listed)
    if isinstance(fault, InputErrors) and fault.unlisted:
        them = "mistake" if fault.unlisted == 1 else "mistakes"
        yield f"{listed[0].file}: {fault.unlisted:,} more {them}."


def as_row(error: InputError) -> dict[str, str | int | None]:
    return {column: getattr(error, column) for column in COLUMNS}


def errors_as_csv(rows: Iterable[dict]) -> str:
    """The error list as a CSV download."""
    return "".join(csv_lines([COLUMNS, *([row[column] for column in COLUMNS] for row in rows)]))
