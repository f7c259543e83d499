"""BEIR's queries.jsonl: `_id`, `text`, `metadata`; other fields are stored in the metadata."""

from collections.abc import Iterator

from apps.common.files.faults import ErrorList
from apps.common.files.fields import Fields
from apps.common.files.tabular import TableFile, read_jsonl
from apps.queries.formats.rows import QueryRow, rows_from

KNOWN = frozenset({"_id", "text", "metadata"})


def read_beir_queries(source: TableFile, errors: ErrorList) -> Iterator[QueryRow]:
    return rows_from(source, errors, read_jsonl(source, errors), _row, id_field="_id")


def _row(fields: Fields) -> QueryRow:
    others = {name: value for name, value in fields.values.items() if name not in KNOWN}
    return QueryRow(
        line=fields.line,
        query_id=fields.outside_id("_id"),
        text=fields.text("text", required=True).strip(),
        metadata=fields.mapping("metadata") | others if others or "metadata" in fields.values else None,
    )
