"""JSONL with `block_id`, `document_id`, `text` and optional fields.

Optional are `title`, `document_title`, `section`, `page_start`, `page_end` and `metadata`.
"""

from collections.abc import Iterator

from apps.common.files.faults import ErrorList
from apps.common.files.tables import Fields
from apps.common.files.tabular import TableFile, read_jsonl
from apps.corpus.formats.rows import BlockRow, pages, rows_from

KNOWN = frozenset(
    {
        "block_id",
        "document_id",
        "document_title",
        "title",
        "text",
        "section",
        "page_start",
        "page_end",
        "metadata",
        "redacted",  # an export's mark of an emptied text; ignored on import
    }
)


def read_block_lines(source: TableFile, errors: ErrorList) -> Iterator[BlockRow]:
    return rows_from(source, errors, read_jsonl(source, errors), row_of)


def row_of(fields: Fields) -> BlockRow:
    """The block of one record. Raises InputError."""
    fields.only(KNOWN)
    if "text" not in fields.values:
        raise fields.wrong("text", "is missing")
    first, last = pages(fields)
    return BlockRow(
        line=fields.line,
        block_id=fields.outside_id("block_id"),
        document_id=fields.outside_id("document_id"),
        title=fields.text("title"),
        text=fields.text("text"),
        document_title=fields.text("document_title"),
        section_path=_section(fields),
        page_start=first,
        page_end=last,
        metadata=fields.mapping("metadata"),
    )


def _section(fields: Fields) -> tuple[str, ...]:
    """A list of headings from the outermost in, or one heading."""
    value = fields.values.get("section")
    if isinstance(value, str):
        return (value,) if value else ()
    return tuple(fields.words("section"))
