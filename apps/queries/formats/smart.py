"""SMART queries: `.I id`, then `.W text`, in the record form of the corpus reader."""

from collections.abc import Iterator

from apps.common.files.faults import ErrorList
from apps.common.files.tables import Fields
from apps.common.files.tabular import TableFile
from apps.corpus.formats.smart import joined, one_line, read_records
from apps.queries.formats.rows import QueryRow, rows_from


def read_smart_queries(source: TableFile, errors: ErrorList, *, ids: str) -> Iterator[QueryRow]:
    """`ids` is "file" or "position"; by position, the file's number is stored as `metadata.file_id`."""
    records = (
        (
            record.line,
            {
                "id": record.record_id,
                "text": one_line(record.fields.get("text", [])),
                "description": joined(record.fields.get("title", [])),
                "file_id": record.file_id,
            },
        )
        for record in read_records(source, errors, ids=ids)
    )
    return rows_from(source, errors, records, _row, id_field="id")


def _row(fields: Fields) -> QueryRow:
    query_id, file_id = fields.outside_id("id"), fields.text("file_id")
    return QueryRow(
        line=fields.line,
        query_id=query_id,
        text=fields.text("text", required=True),
        description=fields.text("description") or None,
        metadata=None if file_id == query_id else {"file_id": file_id},
    )
