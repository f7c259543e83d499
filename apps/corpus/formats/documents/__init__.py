"""Readers of files that people keep their documents in: Markdown, HTML, PDF and others.

Each reader takes one file and yields its documents, which a recipe cuts into passages, or, for formats that bring their
own passages, rows of blocks. A file that cannot be read raises `Unreadable`; nothing of it is kept.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, BinaryIO, NamedTuple

from apps.common.files.jsonvalues import refuse_unstorable
from apps.corpus.core.documents import Document, ReadingNote, TableColumns
from apps.corpus.formats.rows import BlockRow

DAMAGED = "damaged, or not what its name says"
"""Why a file stays unread when its reader knows no better reason."""


class SourceFile(NamedTuple):
    """One file of an upload: its path there, its bytes (seekable, at the beginning), its size in bytes.

    `address` is that of its page when the site is known, so that a reader can complete links; else "". `first_row` is
    what a person said of the first row of tables, one of `FIRST_ROWS`; `columns` what they said that columns are, by
    heading.
    """

    path: str
    stream: BinaryIO
    size: int
    address: str = ""
    first_row: str = ""
    columns: Mapping[str, str] = MappingProxyType({})


class Unreadable(Exception):
    """Why a file stays unread, as a short phrase that many files can share: "scanned PDF without text"."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


Found = Document | BlockRow | ReadingNote | TableColumns
"""What a reader makes of a file, in its order."""
Reader = Callable[[SourceFile], Iterator[Found]]

MOST_JSON_BYTES = 50_000_000
MOST_JSON_VALUES = 5_000_000
"""A value of two bytes, such as `{}`, takes a hundred in memory. Counted by the signs that begin or divide values, with
those inside texts."""
_SIGNS = b"[{,"


def load_json(source: SourceFile) -> Any:
    """The value of a whole JSON file, which may be UTF-8, UTF-16 or UTF-32. Raises Unreadable."""
    raw = source.stream.read(MOST_JSON_BYTES + 1)
    if len(raw) > MOST_JSON_BYTES:
        raise Unreadable(f"JSON of more than {MOST_JSON_BYTES // 1_000_000} MB; JSONL may be larger")
    if sum(map(raw.count, _SIGNS)) > MOST_JSON_VALUES:
        raise Unreadable(f"JSON of more than {MOST_JSON_VALUES // 1_000_000} million values; JSONL may have more")
    try:
        value = json.loads(raw, parse_constant=_no_constant)
        refuse_unstorable(value)
    except RecursionError as error:
        raise Unreadable("JSON nested too deeply") from error
    except ValueError as error:
        raise Unreadable("damaged JSON") from error
    return value


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")
