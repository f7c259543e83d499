"""BEIR's queries.jsonl: `_id`, `text`, `metadata`; other fields are stored in the metadata.

Karat's own files have the split and the source in the metadata, and nothing else.
"""

from collections.abc import Iterator

from apps.common.files.faults import ErrorList
from apps.common.files.tables import Fields
from apps.common.files.tabular import TableFile, read_jsonl
from apps.queries.formats.rows import QueryRow, rows_from

KNOWN = frozenset({"_id", "text", "metadata"})
OWN_METADATA = {"split", "source"}


def read_beir_queries(source: TableFile, errors: ErrorList) -> Iterator[QueryRow]:
    return rows_from(source, errors, read_jsonl(source, errors), _row, id_field="_id")


def _row(fields: Fields) -> QueryRow:
    others = {name: value for name, value in fields.values.items() if name not in KNOWN}
    metadata = fields.mapping("metadata") | others if others or "metadata" in fields.values else None
    source = metadata.pop("source") if metadata and metadata.keys() == OWN_METADATA else None
    return QueryRow(
        line=fields.line,
        query_id=fields.outside_id("_id"),
        text=fields.text("text", required=True).strip(),
        source=str(source) if source else None,
        metadata=metadata,
    )
