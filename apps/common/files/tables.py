"""Tables named on a command line: comma, tab or semicolon separated, plain or gzipped, `-` for standard input."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from apps.common.files.linefiles import name_of
from apps.common.files.tabular import TableFile, open_source

DELIMITERS = ("\t", ",", ";")

# Accepted names of the id columns; the first one is the documented one.
QUERY = ("query", "query_id", "qid", "query-id", "topic")
BLOCK = ("block", "block_id", "doc_id", "docid", "docno", "corpus-id")
ITEM = ("item", "item_id", "id")


@contextmanager
def opened(path: str | Path) -> Iterator[tuple[TableFile, str]]:
    """The file as a source of rows, and its delimiter. `-` is standard input.

    Standard input and pipes are read into memory, since they can be read only once.
    """
    if str(path) == "-":
        yield _in_memory(path, sys.stdin.buffer)
    elif Path(path).is_fifo():
        with Path(path).open("rb") as stream:
            yield _in_memory(path, stream)
    else:
        with open_source(path, name=str(path)) as source:
            yield source, delimiter_of(source)


def _in_memory(path: str | Path, stream: BinaryIO) -> tuple[TableFile, str]:
    source = TableFile(name_of(path), io.BytesIO(stream.read()))
    return source, delimiter_of(source)


def delimiter_of(source: TableFile) -> str:
    """The delimiter of the columns: the first of tab, comma and semicolon that occurs in the first line.

    The source is at its beginning, before and after.
    """
    line = source.read_line(1)
    source.rewind()
    return next((mark for mark in DELIMITERS if mark.encode() in line), ",")
