"""Readers of queries in CSV, JSONL and Parquet with named fields, and in BEIR's queries.jsonl.

Required are `query_id` and `text`. In CSV `;` separates tags and subtopics, and a column `metadata.x` is field x. BEIR
has `_id`, `text` and `metadata`, and its other fields are stored in the metadata. Karat's own files in that form have
the split and the source in the metadata, and nothing else.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from apps.common.errors import InputError
from apps.common.files.faults import ErrorList
from apps.common.files.json_lists import read_objects
from apps.common.files.parquet import object_in, parquet_records
from apps.common.files.tables import Fields
from apps.common.files.tabular import TableFile, read_csv
from apps.queries.core.naming import Facet, parse_facets
from apps.queries.core.strata import checked_day
from apps.queries.enums import Difficulty


class QueryRow(NamedTuple):
    """One query of a file. None: the field is not in the file, and the stored value stays.

    `source` is the slug of a source.
    """

    line: int
    query_id: str
    text: str
    label: str | None = None
    intent: str | None = None
    description: str | None = None
    source: str | None = None
    difficulty: str | None = None
    domain: str | None = None
    query_type: str | None = None
    group_key: str | None = None
    tags: tuple[str, ...] | None = None
    metadata: dict | None = None
    facets: tuple[Facet, ...] | None = None
    expertise: str | None = None
    answer_format: str | None = None
    asked_on: str | None = None


def rows_from(
    source: TableFile,
    errors: ErrorList,
    records: Iterable[tuple[int, dict]],
    make: Callable[[Fields], QueryRow],
    id_field: str = "query_id",
) -> Iterator[QueryRow]:
    """`make` of each record; rejected records are added to `errors`, and each id that an earlier record has.

    `id_field` is the id's field in the records.
    """
    first_lines: dict[str, int] = {}
    for line, values in records:
        query_id = values.get(id_field)
        if isinstance(query_id, str) and query_id and (first := first_lines.setdefault(query_id, line)) != line:
            message = f"the query is in the file twice, first in line {first}"
            errors.add(source.error(line, id_field, query_id, message))
        try:
            yield make(Fields(source, line, values))
        except InputError as error:
            errors.add(error)


KNOWN = frozenset(QueryRow._fields) - {"line", "group_key"} | {"group"}
OWN_METADATA = {"split", "source"}
METADATA = "metadata."
SPLIT = "split"
HUB_ID = "_id"
BEIR = frozenset({HUB_ID, "text", "metadata"})


def read_query_csv(source: TableFile, errors: ErrorList) -> Iterator[QueryRow]:
    records = read_csv(source, errors, required=("query_id", "text"))
    gathered = ((line, _gather_metadata(cells)) for line, cells in records)
    return rows_from(source, errors, gathered, _row)


def read_query_lines(source: TableFile, errors: ErrorList) -> Iterator[QueryRow]:
    return rows_from(source, errors, read_objects(source, errors), _row)


def read_query_parquet(source: TableFile, errors: ErrorList) -> Iterator[QueryRow]:
    """As an export of a version has them: metadata as JSON in one cell, the split in a column of its own.

    A folder for Hugging Face calls the id `_id`.
    """
    return rows_from(source, errors, ((row, _unpacked(values)) for row, values in parquet_records(source)), _row)


def _unpacked(values: dict[str, Any]) -> dict[str, Any]:
    if HUB_ID in values:
        values["query_id"] = values.pop(HUB_ID)
    split = {SPLIT: values.pop(SPLIT)} if SPLIT in values else {}
    metadata = object_in(values.get("metadata", {}))
    if isinstance(metadata, dict) and (split or metadata):
        metadata = {**metadata, **split}
    return {**values, "metadata": metadata} if "metadata" in values or split else values


def _gather_metadata(cells: dict[str, str]) -> dict:
    values: dict = {name: cell for name, cell in cells.items() if not name.startswith(METADATA)}
    metadata = {name.removeprefix(METADATA): cell for name, cell in cells.items() if cell and name.startswith(METADATA)}
    return values | ({"metadata": metadata} if metadata else {})


def _row(fields: Fields) -> QueryRow:
    fields.only(KNOWN)
    difficulty = fields.word("difficulty")
    if difficulty and difficulty not in Difficulty.values:
        raise fields.wrong("difficulty", f"must be one of {', '.join(Difficulty.values)}")
    given: dict[str, Callable[[], Any]] = {
        "label": lambda: fields.word("label"),
        "intent": lambda: fields.text("intent").strip(),
        "description": lambda: fields.text("description").strip(),
        "source": lambda: fields.word("source", limit=60),
        "difficulty": lambda: difficulty,
        "domain": lambda: fields.word("domain", limit=80),
        "query_type": lambda: fields.word("query_type", limit=40),
        "group": lambda: fields.word("group", limit=120),
        "tags": lambda: tuple(fields.words("tags")),
        "metadata": lambda: fields.mapping("metadata"),
        "facets": lambda: facets_of(fields),
        "expertise": lambda: fields.word("expertise", limit=40),
        "answer_format": lambda: fields.word("answer_format", limit=40),
        "asked_on": lambda: _day(fields),
    }
    values = {name: value() for name, value in given.items() if name in fields.values}
    return QueryRow(
        line=fields.line,
        query_id=fields.outside_id("query_id"),
        text=fields.text("text", required=True).strip(),
        group_key=values.pop("group", None),
        **values,
    )


def _day(fields: Fields) -> str:
    try:
        return checked_day(fields.word("asked_on"))
    except ValueError:
        raise fields.wrong("asked_on", "must be a day such as 2026-03-01") from None


def facets_of(fields: Fields, field: str = "facets") -> tuple[Facet, ...]:
    """The subtopics in a field, none where it is empty."""
    given = fields.values.get(field)
    try:
        return tuple(parse_facets([] if given is None or given == "" else given))
    except ValueError as error:
        raise fields.wrong(field, str(error)) from None


def read_beir_queries(source: TableFile, errors: ErrorList) -> Iterator[QueryRow]:
    return rows_from(source, errors, read_objects(source, errors), _beir_row, id_field=HUB_ID)


def _beir_row(fields: Fields) -> QueryRow:
    others = {name: value for name, value in fields.values.items() if name not in BEIR}
    metadata = fields.mapping("metadata") | others if others or "metadata" in fields.values else None
    source = metadata.pop("source") if metadata and metadata.keys() == OWN_METADATA else None
    return QueryRow(
        line=fields.line,
        query_id=fields.outside_id(HUB_ID),
        text=fields.text("text", required=True).strip(),
        source=str(source) if source else None,
        metadata=metadata,
    )
