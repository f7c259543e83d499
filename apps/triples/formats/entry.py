"""One entry of a gold set: a triple of a file in plain values, and the reading of its single fields.

The fields of a published entry are `question`, `expected_block`, `expected_answer` and `metadata`. Karat adds fields of
its own; each may be left out.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from apps.common.digests import digest_of
from apps.common.files.tables import Fields
from apps.common.files.tabular import TableFile

ANY, ALL = "any", "all"


class Evidence(NamedTuple):
    """A passage of a block; with `start` and `end`, code points into the block's text, its place in it too."""

    text: str
    start: int | None = None
    end: int | None = None


class EntryBlock(NamedTuple):
    """An expected block. `document_id` is "" and `pages` None where the file does not give them."""

    block_id: str
    document_id: str = ""
    pages: tuple[int, int] | None = None
    evidence: tuple[Evidence, ...] = ()


class Entry(NamedTuple):
    """The values of one triple in a file. `machine` names what wrote it, where the file names it."""

    question: str
    expected_answer: str
    blocks: tuple[EntryBlock, ...]
    match: str = ANY
    id: str = ""
    query_id: str = ""
    domain: str = ""
    difficulty: str = ""
    source: str = ""
    added_by: str = ""
    added_at: str = ""
    reviewed_by: tuple[str, ...] = ()
    resolution: str = ""
    is_machine_written: bool = False
    machine: str = ""
    adopted_by: str = ""
    split: str | None = None
    note: str = ""
    corpus: str = ""
    snapshot: str = ""


class TripleRecord(NamedTuple):
    """An entry's raw values, with the lines of its fields by path where the format has them."""

    line: int
    values: dict[str, Any]
    lines: Mapping[str, int] = {}


def wording_digest(question: str, answer: str, match: str, blocks: Iterable[tuple[str, Iterable[str]]]) -> str:
    """SHA-256 of what is reviewed: question, answer, and each block by its id with the passages marked in it."""
    return digest_of([question, answer, match, [[block_id, list(passages)] for block_id, passages in blocks]])


def as_values(entry: Entry) -> dict[str, Any]:
    """The entry as plain values in the order of its fields, for both formats.

    The first block is under `expected_block` too. Karat's own fields are left out where they are empty.
    """
    blocks = [_block_values(block) for block in entry.blocks]
    values: dict[str, Any] = {
        "id": entry.id,
        "query_id": entry.query_id or None,
        "question": entry.question,
        "expected_block": {key: blocks[0][key] for key in ("block_id", "document_id", "page_range")},
        "expected_blocks": blocks,
        "match": entry.match,
        "expected_answer": entry.expected_answer,
        "metadata": _metadata_values(entry),
    }
    if not entry.id:
        del values["id"]
    if entry.note:
        values["note"] = entry.note
    if entry.snapshot or entry.corpus:
        values["snapshot"] = {"corpus": entry.corpus, "digest": entry.snapshot}
    return values


_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(", ", ": "))
"""Made once: an export writes a million lines."""


def as_line(values: dict[str, Any]) -> bytes:
    """Values as a line with its end, in UTF-8. Raises ValueError for NaN and infinity, which are not JSON."""
    return _ENCODER.encode(values).encode() + b"\n"


def _metadata_values(entry: Entry) -> dict[str, Any]:
    values: dict[str, Any] = {"domain": entry.domain, "difficulty": entry.difficulty}
    if entry.source:
        values["source"] = entry.source
    values |= {
        "added_by": entry.added_by,
        "added_at": entry.added_at,
        "reviewed_by": list(entry.reviewed_by),
        "resolution": entry.resolution,
        "machine_written": _machine_values(entry),
    }
    if entry.split is not None:
        values["split"] = entry.split
    return values


def _machine_values(entry: Entry) -> bool | dict[str, str]:
    if not entry.is_machine_written:
        return False
    named = {"by": entry.machine, "adopted_by": entry.adopted_by}
    return {key: name for key, name in named.items() if name} or True


def _block_values(block: EntryBlock) -> dict[str, Any]:
    return {
        "block_id": block.block_id,
        "document_id": block.document_id or None,
        "page_range": None if block.pages is None else list(block.pages),
        "evidence": [_evidence_value(passage) for passage in block.evidence],
    }


def _evidence_value(passage: Evidence) -> str | dict[str, Any]:
    if passage.start is None:
        return passage.text
    return {"start": passage.start, "end": passage.end, "text": passage.text}


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
