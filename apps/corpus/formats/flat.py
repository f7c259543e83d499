"""CSV: the columns of the JSONL form. ` > ` separates the headings of `section`; `metadata.x` is field x."""

from collections.abc import Iterator

from apps.common.files.faults import ErrorList
from apps.common.files.fields import Fields
from apps.common.files.tabular import TableFile, read_csv
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
    }
)
METADATA = "metadata."


def read_flat(source: TableFile, errors: ErrorList) -> Iterator[BlockRow]:
    records = read_csv(source, errors, required=("block_id", "document_id", "text"))
    return rows_from(source, errors, records, row_of)


def row_of(fields: Fields) -> BlockRow:
    """The block of one record. Raises InputError."""
    metadata = {
        name.removeprefix(METADATA): fields.values.pop(name)
        for name in [name for name in fields.values if name.startswith(METADATA)]
    }
    fields.only(KNOWN)
    first, last = pages(fields)
    return BlockRow(
        line=fields.line,
        block_id=fields.outside_id("block_id"),
        document_id=fields.outside_id("document_id"),
        title=fields.text("title"),
        text=fields.text("text"),
        document_title=fields.text("document_title"),
        section_path=tuple(part.strip() for part in fields.text("section").split(" > ") if part.strip()),
        page_start=first,
        page_end=last,
        metadata={name: value for name, value in metadata.items() if value},
    )
