"""JSON: an array of objects, an object that contains one, objects by id, or one object a line (JSONL).

OSCAL catalogs and SQuAD are recognised by their content.
"""

import json
from collections.abc import Iterator
from typing import Any

from apps.common.files.faults import ErrorList, all_of
from apps.common.files.tabular import TableFile, read_jsonl
from apps.corpus.core.documents import Document, ReadingNote
from apps.corpus.formats.documents import SourceFile, Unreadable
from apps.corpus.formats.documents.json_files import load_json
from apps.corpus.formats.documents.oscal import catalog_rows
from apps.corpus.formats.documents.records import read_records
from apps.corpus.formats.documents.squad import is_squad, squad_rows
from apps.corpus.formats.jsonl import row_of
from apps.corpus.formats.rows import BlockRow, rows_from

NO_RECORDS = "JSON without records"
OWN_FORM = {"block_id", "document_id", "text"}
FIRST_LINE = 1_000_000


def read_json(source: SourceFile) -> Iterator[Document | BlockRow | ReadingNote]:
    if _is_lines(source):
        yield from _read_lines(source)
        return
    value = load_json(source)
    if isinstance(value, dict) and "catalog" in value:
        yield from catalog_rows(value)
    elif is_squad(value):
        yield from squad_rows(source, value)
    else:
        yield from _read_objects(source, list(enumerate(_objects(value), 1)))


def _is_lines(source: SourceFile) -> bool:
    """Whether the first line is an object, and more than the end of a file follows, or the name says so."""
    line = source.stream.readline(FIRST_LINE)
    following = source.stream.read(1)
    source.stream.seek(0)
    if source.path.lower().endswith((".jsonl", ".ndjson")):
        return True
    try:
        return bool(following) and isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def _read_lines(source: SourceFile) -> Iterator[Document | BlockRow | ReadingNote]:
    errors = ErrorList()
    yield from read_records(source, "json", (), read_jsonl(TableFile(source.path, source.stream), errors), errors)
    if errors:
        raise all_of(errors)


def _read_objects(source: SourceFile, records: list[tuple[int, dict]]) -> Iterator[Document | BlockRow | ReadingNote]:
    """Records in the form of Karat's own JSONL are read as such, with sections and pages."""
    errors = ErrorList()
    if all(record.keys() >= OWN_FORM for _, record in records):
        yield from rows_from(TableFile(source.path, source.stream), errors, records, row_of)
    else:
        yield from read_records(source, "json", (), records, errors)
    if errors:
        raise all_of(errors)


def _objects(value: Any) -> list[dict[str, Any]]:
    """The records in a JSON value: its own, those of its longest list, or its values by id."""
    lists = [value] if isinstance(value, list) else []
    if isinstance(value, dict):
        lists = sorted((one for one in value.values() if isinstance(one, list)), key=len, reverse=True)
    for records in lists:
        if records and all(isinstance(record, dict) for record in records):
            return records
    if isinstance(value, dict) and len(value) > 1 and all(isinstance(one, dict) for one in value.values()):
        return [{"_id": name, **one} for name, one in value.items()]
    raise Unreadable(NO_RECORDS)
