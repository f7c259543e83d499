"""Readers of corpus files: each streams `BlockRow`s from a `TableFile`; `read_blocks` picks one by format."""

from collections.abc import Callable, Iterator

from apps.common.files.faults import ErrorList
from apps.common.files.tables import Fields
from apps.common.files.tabular import TableFile, read_jsonl
from apps.corpus.formats.jsonl import read_block_lines, row_of
from apps.corpus.formats.rows import BlockRow, read_flat, rows_from
from apps.corpus.formats.smart import read_smart

KNOWN = frozenset({"_id", "title", "text", "metadata"})
OWN_METADATA = {"document_id", "section", "page_start", "page_end"}


def read_beir(source: TableFile, errors: ErrorList) -> Iterator[BlockRow]:
    """BEIR's corpus.jsonl: `_id`, `title`, `text`, `metadata`. Each record is its own document.

    Other fields are common in such files and are stored in the metadata. Karat's own files have the document, headings
    and pages of a passage in the metadata, and nothing else.
    """
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


FORMATS = {
    "jsonl": "JSONL, one passage per line",
    "csv": "CSV",
    "beir": "BEIR corpus.jsonl",
    "smart": "SMART (.I .T .A .B .W)",
}
IDS = {"file": "as the file gives them", "position": "by position, from 1"}

Reader = Callable[[TableFile, ErrorList], Iterator[BlockRow]]
_READERS: dict[str, Reader] = {"jsonl": read_block_lines, "csv": read_flat, "beir": read_beir}


def read_blocks(source: TableFile, errors: ErrorList, *, format: str, ids: str = "file") -> Iterator[BlockRow]:
    """The blocks of a corpus file in file order.

    `ids` is "file" or, for SMART files only, "position": some of those number their records with gaps, while judgements
    refer to them by position. The person must choose.
    """
    if format == "smart":
        yield from read_smart(source, errors, ids=ids)
        return
    if ids != "file":
        raise source.error(None, "ids", ids, "ids by position are for SMART files only")
    yield from _READERS[format](source, errors)
