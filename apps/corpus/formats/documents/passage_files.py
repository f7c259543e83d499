"""Formats that bring their own passages with ids: JSONL, BEIR and SMART, read as `read_blocks` reads them."""

from collections.abc import Iterator

from apps.common.errors import InputError
from apps.common.files.faults import ErrorList, all_of
from apps.common.files.tabular import TableFile
from apps.corpus.formats import read_blocks
from apps.corpus.formats.documents import DAMAGED, Reader, SourceFile, Unreadable
from apps.corpus.formats.rows import BlockRow


def passages_as(format: str) -> Reader:
    """The reader of one of the formats of `read_blocks`. Raises InputErrors when a record is wrong."""

    def read(file: SourceFile) -> Iterator[BlockRow]:
        errors = ErrorList()
        try:
            yield from read_blocks(TableFile(file.path, file.stream), errors, format=format)
        except InputError as error:
            if error.line is None:  # about the file, and not about one of its lines
                raise Unreadable(DAMAGED) from error
            raise
        if errors:
            raise all_of(errors)

    return read
