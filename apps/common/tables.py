"""Tables named on a command line: divided by commas, tabs or semicolons, plain or gzipped, `-` for standard input."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from apps.common.linefiles import name_of
from apps.common.tabular import Source, open_source

DELIMITERS = ("\t", ",", ";")

# What the columns that hold ids are called in the files people have; the first name is the documented one.
QUERY = ("query", "query_id", "qid", "query-id", "topic")
BLOCK = ("block", "block_id", "doc_id", "docid", "docno", "corpus-id")
ITEM = ("item", "item_id", "id")


@contextmanager
def opened(path: str | Path) -> Iterator[tuple[Source, str]]:
    """The file as a source of rows, with what divides its columns. `-` is standard input, which is read whole."""
    if str(path) == "-":
        data = sys.stdin.buffer.read()
        yield Source(name_of(path), io.BytesIO(data)), _delimiter(Source("", io.BytesIO(data)))
        return
    with open_source(path, name=str(path)) as head:
        delimiter = _delimiter(head)
    with open_source(path, name=str(path)) as source:
        yield source, delimiter


def _delimiter(source: Source) -> str:
    """What divides the columns: the first of tab, comma and semicolon that the first line holds."""
    line = source.read_line(1)
    return next((mark for mark in DELIMITERS if mark.encode() in line), ",")
