"""Records from JSON (an array, an object with one, objects by id, or an object a line) and from Parquet.

OSCAL catalogs and SQuAD are recognised by their content.
"""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any

from apps.common.files.faults import ErrorList, all_of
from apps.common.files.parquet import LIMITS, NotRead, ParquetLimits, object_in, parquet_rows
from apps.common.files.tabular import TableFile, read_jsonl
from apps.corpus.core.documents import ReadingNote
from apps.corpus.formats.documents import Found, SourceFile, Unreadable, load_json
from apps.corpus.formats.documents.oscal import catalog_rows
from apps.corpus.formats.documents.records import Record, outside_id, read_records
from apps.corpus.formats.rows import KNOWN, OWN_FORM, BlockRow, row_of, rows_from

BLOCK, HUB_ID = "block_id", "_id"
METADATA = "metadata"


def read_parquet(source: SourceFile, limits: ParquetLimits = LIMITS) -> Iterator[Found]:
    """Columns are the fields of records, by their names; those of an exported version are read as they are.

    A folder for Hugging Face calls the id of a passage `_id`.
    """
    lines = parquet_rows(source.stream, source.size, limits)
    try:
        yield from _found(source, lines)
    except NotRead as reason:
        raise Unreadable(str(reason)) from None
    finally:
        lines.close()


def _found(source: SourceFile, lines: Iterator[list[Any]]) -> Iterator[Found]:
    given = next(lines, [])
    names = [BLOCK if name == HUB_ID else name for name in given]
    errors = ErrorList()
    if OWN_FORM <= set(names) <= KNOWN:
        yield ReadingNote("read as the passages of an exported version")
        table = TableFile(source.path, source.stream)
        yield from rows_from(table, errors, map(_unpacked, _records(names, lines)), row_of)
    else:
        yield from read_records(source, "parquet", given, _records(given, lines), errors)
    if errors:
        raise all_of(errors)


def _unpacked(record: Record) -> tuple[int, dict[str, Any]]:
    """A row of an export without its empty cells, and with metadata as fields again."""
    number, values = record
    given = {name: value for name, value in values.items() if value is not None}
    return number, given | ({METADATA: object_in(given[METADATA])} if METADATA in given else {})


def _records(names: list[str], lines: Iterator[list[Any]]) -> Iterator[Record]:
    for number, values in enumerate(lines, 1):
        yield number, dict(zip(names, values, strict=True))


def is_squad(value: Any) -> bool:
    """Whether a JSON value has articles of paragraphs with contexts."""
    articles = value.get("data") if isinstance(value, dict) else None
    first = articles[0] if isinstance(articles, list) and articles else None
    return isinstance(first, dict) and isinstance(first.get("paragraphs"), list)


def squad_rows(source: SourceFile, value: dict[str, Any]) -> Iterator[BlockRow]:
    """The paragraphs of SQuAD and of data in its form: `Article/3` is the third of the article of that title.

    The text of a passage is exactly the `context`, so the offset of every answer in the file is its offset in the
    passage. Questions and answers themselves are not read.
    """
    places: Counter[str] = Counter()
    try:
        for article in value["data"]:
            title = str(article.get("title") or PurePosixPath(source.path).stem)
            name = outside_id(title)
            for paragraph in article["paragraphs"]:
                places[name] += 1
                yield BlockRow(
                    line=sum(places.values()),
                    block_id=f"{name}/{places[name]}",
                    document_id=name,
                    title="",
                    text=_text(paragraph["context"]),
                    document_title=title.replace("_", " "),
                )
    except (AttributeError, KeyError, TypeError) as error:
        raise Unreadable("damaged SQuAD") from error
    if not places:
        raise Unreadable("SQuAD without paragraphs")


def _text(context: Any) -> str:
    if not isinstance(context, str):
        raise TypeError
    return context


NO_RECORDS = "JSON without records"
FIRST_LINE = 1_000_000


def read_json(source: SourceFile) -> Iterator[Found]:
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


def _read_lines(source: SourceFile) -> Iterator[Found]:
    errors = ErrorList()
    yield from read_records(source, "json", (), read_jsonl(TableFile(source.path, source.stream), errors), errors)
    if errors:
        raise all_of(errors)


def _read_objects(source: SourceFile, records: list[tuple[int, dict]]) -> Iterator[Found]:
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
