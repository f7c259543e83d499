"""CSV, JSONL and Parquet with named fields: `query_id`, `text` and optional ones.

In CSV `;` separates tags and a column `metadata.x` is field x.
"""

from collections.abc import Callable, Iterator
from typing import Any

from apps.common.files.faults import ErrorList
from apps.common.files.parquet import object_in, parquet_records
from apps.common.files.tables import Fields
from apps.common.files.tabular import TableFile, read_csv, read_jsonl
from apps.queries.enums import Difficulty
from apps.queries.formats.rows import QueryRow, rows_from

KNOWN = frozenset(
    {
        "query_id",
        "text",
        "label",
        "intent",
        "description",
        "source",
        "difficulty",
        "domain",
        "query_type",
        "group",
        "tags",
        "metadata",
    }
)
METADATA = "metadata."
SPLIT = "split"
HUB_ID = "_id"


def read_query_csv(source: TableFile, errors: ErrorList) -> Iterator[QueryRow]:
    records = read_csv(source, errors, required=("query_id", "text"))
    gathered = ((line, _gather_metadata(cells)) for line, cells in records)
    return rows_from(source, errors, gathered, _row)


def read_query_lines(source: TableFile, errors: ErrorList) -> Iterator[QueryRow]:
    return rows_from(source, errors, read_jsonl(source, errors), _row)


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
    }
    values = {name: value() for name, value in given.items() if name in fields.values}
    return QueryRow(
        line=fields.line,
        query_id=fields.outside_id("query_id"),
        text=fields.text("text", required=True).strip(),
        group_key=values.pop("group", None),
        **values,
    )
