"""The fields of an entry, or of an object inside of it."""

from __future__ import annotations

from typing import Any

from apps.common.files.fields import Fields
from apps.common.files.tabular import TableFile
from apps.triples.formats.entry import TripleRecord


class EntryFields(Fields):
    """The fields of an entry, or of an object inside of it. Faults name the whole path and the field's own line."""

    def __init__(self, source: TableFile, record: TripleRecord, values: dict[str, Any], prefix: str = "") -> None:
        super().__init__(source, record.line, values)
        self.record = record
        self.prefix = prefix

    def wrong(self, field: str, message: str) -> Exception:
        """The InputError to raise for `field`, with its path from the entry down and its own line."""
        path = f"{self.prefix}{field}"
        return self.source.error(self.line_of(path), path, self.values.get(field), message)

    def line_of(self, path: str) -> int:
        """The line of a field; the line of the entry in formats without lines of fields."""
        return self.record.lines.get(path, self.line)

    def only(self, known: frozenset[str]) -> None:
        """Raises InputError for the first field that is not in `known`."""
        for field in self.values:
            if field not in known:
                raise self.wrong(field, f"unknown field; known are {', '.join(sorted(known))}")

    def inside(self, field: str, value: object = None, place: str = "") -> EntryFields:
        """The object in `field`, or one of the list in it."""
        value = self.values.get(field) if value is None else value
        if not isinstance(value, dict):
            raise self.wrong(field, "must be an object with fields of its own")
        return EntryFields(self.source, self.record, value, f"{self.prefix}{field}{place}.")

    def inside_or_empty(self, field: str) -> EntryFields:
        """The object in `field`, or one without fields when it is missing."""
        return EntryFields(self.source, self.record, {}) if self.values.get(field) is None else self.inside(field)

    def several(self, field: str, most: int) -> list[Any]:
        """The list in `field`, of at most `most` items; empty when it is missing."""
        value = self.values.get(field)
        if value is None:
            return []
        if not isinstance(value, list):
            raise self.wrong(field, "must be a list")
        if len(value) > most:
            raise self.wrong(field, f"has more than {most}")
        return value
