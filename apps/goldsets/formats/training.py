"""Readers of training manifests: JSON lines, CSV, or a plain list of ids and text hashes."""

import csv
import re
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from apps.common.errors import InputError
from apps.common.files.faults import ErrorList
from apps.common.files.json_lists import read_objects
from apps.common.files.tables import Fields
from apps.common.files.tabular import TableFile, read_csv, read_lines
from apps.goldsets.core.splits import words_digest
from apps.goldsets.core.training import Entry
from apps.goldsets.enums import EntryKind

T = TypeVar("T")
AUTO, JSONL, CSV, LINES = "auto", "jsonl", "csv", "lines"
FORMATS = {JSONL: "JSON lines", CSV: "CSV", LINES: "A list, one id or text hash a line"}
IDS = {
    EntryKind.QUESTION.value: "queries and Q&As",
    EntryKind.BLOCK.value: "passages",
    EntryKind.DOCUMENT.value: "documents",
}
"""What the ids of a plain list may be of."""
ID_FIELDS = {
    "query_id": EntryKind.QUESTION,
    "triple_id": EntryKind.QUESTION,
    "block_id": EntryKind.BLOCK,
    "document_id": EntryKind.DOCUMENT,
}
HASH, TEXT = "sha256", "text"
FIELDS = (*ID_FIELDS, HASH, TEXT)
LONGEST_ID = 300
HEAD_BYTES = 16_384
MOST_ENTRIES = 1_000_000
A_HASH = re.compile(r"[0-9a-fA-F]{64}\Z")
# What sha256sum prints: the hash, and the name of the file.
A_HASHED_FILE = re.compile(r"([0-9a-fA-F]{64})(?:\s+\S.*)?\Z")


def recognise(source: TableFile) -> str:
    """JSON lines, CSV with a column of ours, else a plain list. The source is at its beginning, before and after."""
    text = source.head(HEAD_BYTES).decode("utf-8", errors="replace").removeprefix("\ufeff").lstrip()
    if text.startswith("{"):
        return JSONL
    heading = {name.strip() for name in next(csv.reader(text.splitlines()[:1]), [])}
    return CSV if heading & set(FIELDS) else LINES


def read_entries(source: TableFile, errors: ErrorList, *, format: str, ids: str) -> dict[Entry, int]:
    """The different entries of a file, each with the number of lines that have it. Bad lines are added to `errors`.

    `ids` says what the ids of a plain list are of. Of a `text` only the hash of its words is kept.
    """
    found: dict[Entry, int] = {}
    try:
        for entry in _entries(source, errors, recognise(source) if format == AUTO else format, ids):
            found[entry] = found.get(entry, 0) + 1
            if len(found) > MOST_ENTRIES:
                raise source.error(None, "", "", f"the file has more than {MOST_ENTRIES:,} entries; split it")
    except InputError as error:
        errors.add(error)
    if not found and not errors:
        errors.add(source.error(None, "", "", "the file is empty; write an id or a text hash on each line"))
    return found


def _entries(source: TableFile, errors: ErrorList, format: str, ids: str) -> Iterator[Entry]:
    if format == LINES:
        yield from _gathered(read_lines(source), errors, lambda line, text: _of_line(source, line, text, ids))
        return
    records = read_objects(source, errors) if format == JSONL else read_csv(source, errors, required=(), known=FIELDS)
    yield from _gathered(records, errors, lambda line, values: _of_record(Fields(source, line, values)))


def _gathered(
    rows: Iterable[tuple[int, T]], errors: ErrorList, entries_of: Callable[[int, T], Iterable[Entry]]
) -> Iterator[Entry]:
    for line, row in rows:
        try:
            yield from list(entries_of(line, row))
        except InputError as error:
            errors.add(error)


def _of_line(source: TableFile, line: int, text: str, ids: str) -> Iterator[Entry]:
    text = text.strip()
    if not text:
        return
    if match := A_HASHED_FILE.match(text):
        yield Entry(EntryKind.TEXT, match[1].lower())
        return
    name = {EntryKind.BLOCK: "block_id", EntryKind.DOCUMENT: "document_id"}.get(EntryKind(ids), "query_id")
    yield Entry(EntryKind(ids), _id(Fields(source, line, {name: text}), name))


def _of_record(fields: Fields) -> Iterator[Entry]:
    fields.only(frozenset(FIELDS))
    given = [name for name in FIELDS if fields.values.get(name) not in (None, "")]
    if not given:
        message = f"the line names nothing; give one of {', '.join(FIELDS)}"
        raise fields.source.error(fields.line, FIELDS[0], "", message)
    for name in given:
        yield _entry(fields, name)


def _entry(fields: Fields, name: str) -> Entry:
    if name in ID_FIELDS:
        return Entry(ID_FIELDS[name], _id(fields, name))
    if name == TEXT:
        if digest := words_digest(fields.text(TEXT)):
            return Entry(EntryKind.TEXT, digest)
        raise fields.wrong(TEXT, "the text has no words")
    written = fields.text(HASH).strip()
    if not A_HASH.match(written):
        raise fields.wrong(HASH, "must be 64 hexadecimal digits, as karat hash-texts and sha256sum print them")
    return Entry(EntryKind.TEXT, written.lower())


def _id(fields: Fields, name: str) -> str:
    if ID_FIELDS[name] == EntryKind.QUESTION:
        value = fields.text(name, limit=LONGEST_ID).strip()
        if any(letter.isspace() for letter in value):
            message = "an id has no blanks; to list a text, hash it with karat hash-texts, or use a column text"
            raise fields.wrong(name, message)
        return value
    return fields.text(name, limit=LONGEST_ID).strip()
