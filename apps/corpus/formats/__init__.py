"""Readers of files of passages: each streams `BlockRow`s from a `TableFile`; `read_blocks` picks one by format."""

from collections.abc import Callable, Iterator

from apps.common.files.faults import ErrorList
from apps.common.files.tabular import TableFile
from apps.corpus.formats.rows import BlockRow, read_beir, read_block_lines, read_flat
from apps.corpus.formats.smart import read_smart

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
