"""Readers of files that people keep their documents in: Markdown, HTML, PDF and others.

Each reader takes one file and yields its documents, which a recipe cuts into passages, or, for formats that bring their
own passages, rows of blocks. A file that cannot be read raises `Unreadable`; nothing of it is kept.
"""

from collections.abc import Callable, Iterator
from typing import BinaryIO, NamedTuple

from apps.corpus.core.documents import Document, ReadingNote
from apps.corpus.formats.rows import BlockRow

DAMAGED = "damaged, or not what its name says"
"""Why a file stays unread when its reader knows no better reason."""


class SourceFile(NamedTuple):
    """One file of an upload: its path there, its bytes (seekable, at the beginning), its size in bytes.

    `address` is that of its page when the site is known, so that a reader can complete links; else "". `first_row` is
    what a person said of the first row of tables, one of `FIRST_ROWS`.
    """

    path: str
    stream: BinaryIO
    size: int
    address: str = ""
    first_row: str = ""


class Unreadable(Exception):
    """Why a file stays unread, as a short phrase that many files can share: "scanned PDF without text"."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


Reader = Callable[[SourceFile], Iterator[Document | BlockRow | ReadingNote]]
