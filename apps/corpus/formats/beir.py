"""BEIR's corpus.jsonl: `_id`, `title`, `text`, `metadata`. Each record is its own document.

Other fields are common in such files and are stored in the metadata. Karat's own files have the document, headings and
pages of a passage in the metadata, and nothing else.
"""

from collections.abc import Iterator

from apps.common.files.faults import ErrorList
from apps.common.files.fields import Fields
from apps.common.files.tabular import TableFile, read_jsonl
from apps.corpus.formats.jsonl import row_of
from apps.corpus.formats.rows import BlockRow, rows_from

KNOWN = frozenset({"_id", "title", "text", "metadata"})
OWN_METADATA = {"document_id", "section", "page_start", "page_end"}


def read_beir(source: TableFile, errors: ErrorList) -> Iterator[BlockRow]:
    return rows_from(source, errors, read_jsonl(source, errors), _row)


def _row(fields: Fields) -> BlockRow:
    if "text" not in fields.values:
        raise fields.wrong("text", "is missing")
    block_id = fields.outside_id("_id")
    others = {name: value for name, value in fields.values.items() if name not in KNOWN}
    metadata = fields.mapping("metadata")
    if metadata.keys() == OWN_METADATA and not others:
        texts = {name: fields.values[name] for name in ("title", "text") if name in fields.values}
        return row_of(Fields(fields.source, fields.line, {"block_id": block_id, **texts, **metadata}))
    return BlockRow(
        line=fields.line,
        block_id=block_id,
        document_id=block_id,
        title=fields.text("title"),
        text=fields.text("text"),
        metadata=metadata | others,
    )
