"""The rows that every reader of passages yields, and the readers of JSONL, CSV and BEIR."""

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from apps.common.errors import InputError
from apps.common.files.faults import ErrorList
from apps.common.files.json_lists import read_objects
from apps.common.files.tables import Fields
from apps.common.files.tabular import TableFile, read_csv
from apps.corpus.core.passage_ids import BlockDigests, block_digests


class BlockRow(NamedTuple):
    """One block of a file. `line` is where its record begins."""

    line: int
    block_id: str
    document_id: str
    title: str
    text: str
    section_path: tuple[str, ...] = ()
    page_start: int | None = None
    page_end: int | None = None
    metadata: dict = {}
    document_title: str = ""


def digests_of(row: BlockRow) -> BlockDigests:
    return block_digests(
        title=row.title,
        section_path=row.section_path,
        page_start=row.page_start,
        page_end=row.page_end,
        text=row.text,
    )


def rows_from(
    source: TableFile,
    errors: ErrorList,
    records: Iterable[tuple[int, dict]],
    make: Callable[[Fields], BlockRow],
) -> Iterator[BlockRow]:
    """`make` of each record; rejected records are added to `errors`."""
    for line, values in records:
        try:
            row = make(Fields(source, line, values))
        except InputError as error:
            errors.add(error)
            continue
        if not row.text.strip():
            errors.warn(source.error(line, "text", row.block_id, "the block has no text"))
        yield row


COLUMNS = frozenset({"block_id", "document_id", "document_title", "title", "text", "section", "page_start", "page_end"})
KNOWN = COLUMNS | {"metadata", "redacted"}
"""The fields of JSONL. An export marks an emptied text as redacted; an import ignores that."""
METADATA = "metadata."
OWN_FORM = frozenset({"block_id", "document_id", "text"})
"""The fields by which a file of any kind is known to be of passages as Karat writes them."""
HUB = frozenset({"_id", "title", "text", "metadata"})
OWN_METADATA = {"document_id", "section", "page_start", "page_end"}


def read_block_lines(source: TableFile, errors: ErrorList) -> Iterator[BlockRow]:
    """JSONL with `block_id`, `document_id`, `text` and optional fields."""
    return rows_from(source, errors, read_objects(source, errors), row_of)


def read_flat(source: TableFile, errors: ErrorList) -> Iterator[BlockRow]:
    """CSV with the same fields; ` > ` divides the headings of `section`, a column `metadata.x` is field x."""
    records = read_csv(source, errors, required=tuple(sorted(OWN_FORM)))
    return rows_from(source, errors, records, row_of_cells)


def read_beir(source: TableFile, errors: ErrorList) -> Iterator[BlockRow]:
    """BEIR's corpus.jsonl: `_id`, `title`, `text`, `metadata`. Each record is its own document.

    Other fields are common in such files and are stored in the metadata. Karat's own files have the document, headings
    and pages of a passage in the metadata, and nothing else.
    """
    return rows_from(source, errors, read_objects(source, errors), _row_of_hub)


def row_of(fields: Fields) -> BlockRow:
    """The block of one record of JSONL. Raises InputError."""
    fields.only(KNOWN)
    section = fields.values.get("section")
    path = [section] if isinstance(section, str) and section else fields.words("section")
    return _row(fields, path, fields.mapping("metadata"))


def row_of_cells(fields: Fields) -> BlockRow:
    """The block of one row of a table. Raises InputError."""
    metadata = {
        name.removeprefix(METADATA): fields.values.pop(name)
        for name in [name for name in fields.values if name.startswith(METADATA)]
    }
    fields.only(COLUMNS)
    path = [part.strip() for part in fields.text("section").split(" > ") if part.strip()]
    return _row(fields, path, {name: value for name, value in metadata.items() if value})


def _row(fields: Fields, section: Iterable[str], metadata: dict) -> BlockRow:
    if "text" not in fields.values:
        raise fields.wrong("text", "is missing")
    first, last = _pages(fields)
    return BlockRow(
        line=fields.line,
        block_id=fields.outside_id("block_id"),
        document_id=fields.outside_id("document_id"),
        title=fields.text("title"),
        text=fields.text("text"),
        document_title=fields.text("document_title"),
        section_path=tuple(section),
        page_start=first,
        page_end=last,
        metadata=metadata,
    )


def _pages(fields: Fields) -> tuple[int | None, int | None]:
    """(first, last) page. The last one defaults to the first; it must not be alone or before the first."""
    first, last = fields.whole("page_start"), fields.whole("page_end")
    if first is None and last is not None:
        raise fields.wrong("page_end", "page_end needs a page_start")
    if first is not None and last is not None and last < first:
        raise fields.wrong("page_end", f"the last page comes before the first, {first}")
    return first, first if last is None else last


def _row_of_hub(fields: Fields) -> BlockRow:
    if "text" not in fields.values:
        raise fields.wrong("text", "is missing")
    block_id = fields.outside_id("_id")
    others = {name: value for name, value in fields.values.items() if name not in HUB}
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
