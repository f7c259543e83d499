"""The rows that every reader of a corpus file yields, shared checks, and the flat CSV layout."""

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from apps.common.errors import InputError
from apps.common.files.faults import ErrorList
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


def pages(fields: Fields) -> tuple[int | None, int | None]:
    """(first, last) page. The last one defaults to the first; it must not be alone or before the first."""
    first, last = fields.whole("page_start"), fields.whole("page_end")
    if first is None and last is not None:
        raise fields.wrong("page_end", "page_end needs a page_start")
    if first is not None and last is not None and last < first:
        raise fields.wrong("page_end", f"the last page comes before the first, {first}")
    return first, first if last is None else last


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
