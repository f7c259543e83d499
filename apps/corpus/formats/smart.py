"""The SMART format: records that begin with `.I id` and have fields `.T .A .B .W` and a few others.

Each field occurs once in a record. A repeated marker (Cranfield has four) opens no field: the marker line is left out,
the lines after it stay in the field before, and a warning names it.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from apps.common.files.faults import ErrorList
from apps.common.files.tables import Fields
from apps.common.files.tabular import TableFile, read_lines
from apps.corpus.formats.rows import BlockRow, rows_from

NAMES = {
    "T": "title",
    "A": "author",
    "B": "source",
    "W": "text",
    "N": "date",
    "K": "keywords",
    "C": "categories",
    "X": "references",
}
_BEGIN = re.compile(r"\.I\s+(\S+)\s*$")
_FIELD = re.compile(r"\.([A-Z])\s*$")


class SmartRecord(NamedTuple):
    line: int
    record_id: str
    file_id: str
    fields: dict[str, list[str]]


def read_smart(source: TableFile, errors: ErrorList, *, ids: str) -> Iterator[BlockRow]:
    """Blocks of a SMART file; each record is its own document. `ids` is "file" or "position"."""
    records = ((record.line, _values(record)) for record in read_records(source, errors, ids=ids))
    return rows_from(source, errors, records, _row)


def read_records(source: TableFile, errors: ErrorList, *, ids: str) -> Iterator[SmartRecord]:
    """The records with their lines by field name, for corpora and queries alike.

    With ids by position the first record is "1", whatever its `.I`. Raises InputError for text before the first `.I`:
    the file has another format.
    """
    if ids not in {"file", "position"}:
        raise source.error(None, "ids", ids, "say file or position")
    record: SmartRecord | None = None
    field: list[str] | None = None
    position = 0
    for number, line in read_lines(source):
        begin = _BEGIN.match(line)
        if begin:
            if record:
                yield record
            position += 1
            file_id = begin.group(1)
            record = SmartRecord(number, str(position) if ids == "position" else file_id, file_id, {})
            field = None
        elif record is None:
            if line.strip():
                raise source.error(number, "", line, "a SMART file begins with .I and an id")
        elif marker := _FIELD.match(line):
            field = _open_field(source, errors, record, field, number, marker.group(1))
        elif field is not None:
            field.append(line)
        elif line.strip():
            errors.add(source.error(number, "", line, "text before the record's first field"))
    if record:
        yield record


def _open_field(
    source: TableFile,
    errors: ErrorList,
    record: SmartRecord,
    field: list[str] | None,
    number: int,
    letter: str,
) -> list[str] | None:
    name = NAMES.get(letter)
    if name is None:
        errors.add(source.error(number, "", f".{letter}", f"unknown field; known are .{' .'.join(NAMES)}"))
        return field
    if name in record.fields:
        message = f".{letter} appears twice in record {record.record_id}; its lines stay in the field before"
        errors.warn(source.error(number, "", f".{letter}", message))
        return field
    record.fields[name] = []
    return record.fields[name]


def joined(lines: list[str]) -> str:
    """Field lines as one text, unchanged except for blank lines at both ends, which are removed."""
    return "\n".join(lines).strip("\n")


def one_line(lines: list[str]) -> str:
    return " ".join(" ".join(lines).split())


def _values(record: SmartRecord) -> dict:
    others = {name: one_line(lines) for name, lines in record.fields.items() if name not in {"title", "text"}}
    return {
        "id": record.record_id,
        "title": one_line(record.fields.get("title", [])),
        "text": joined(record.fields.get("text", [])),
        "metadata": {name: value for name, value in others.items() if value},
    }


def _row(fields: Fields) -> BlockRow:
    block_id = fields.outside_id("id")
    return BlockRow(
        line=fields.line,
        block_id=block_id,
        document_id=block_id,
        title=fields.text("title"),
        text=fields.text("text"),
        metadata=fields.mapping("metadata"),
    )
