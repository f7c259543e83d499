"""A question with the blocks it expects, and the passages that a system returned for it."""

from __future__ import annotations

from typing import NamedTuple

Pages = tuple[int, int]


class ExpectedBlock(NamedTuple):
    """A block that answers a question. `pages` are its first and last page, `evidence` its marked texts.

    Without marked evidence the text of the block is its evidence: whoever builds it puts it there.
    """

    block_id: str
    document_id: str = ""
    pages: Pages | None = None
    evidence: tuple[str, ...] = ()


class Question(NamedTuple):
    """What a system is measured on: any one of the expected blocks will do, or all are needed."""

    id: str
    expected: tuple[ExpectedBlock, ...]
    needs_all: bool = False
    query_id: str = ""

    @property
    def needed(self) -> int:
        """How many of the expected blocks have to be found."""
        return len(self.expected) if self.needs_all else 1


class Returned(NamedTuple):
    """A returned passage: as much of id, document, pages and text as the system tells."""

    id: str = ""
    document_id: str = ""
    pages: Pages | None = None
    text: str = ""
