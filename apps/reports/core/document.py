"""What a report is made of: a title, the sentence that matters, and parts of words, facts, tables and charts.

Everything is plain text; the writers escape it. Nothing in a document tells when it was made, so that the same
values give the same bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple


class Paragraph(NamedTuple):
    """A paragraph. A `quiet` one is a remark on how to read what stands above it."""

    text: str
    quiet: bool = False


class Facts(NamedTuple):
    """Terms, each with what is to be said of it. `code`: the texts are ids or digests."""

    rows: Sequence[tuple[str, str]]
    code: bool = False


class Table(NamedTuple):
    """Rows of written cells, as wide as the head. The first `words` columns and those of `prose` hold words, the
    others figures; those of `prose` hold whole sentences.

    `code` are the columns that hold names a machine reads. `name` tells a screen reader what the table is.
    """

    name: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    words: int = 1
    code: frozenset[int] = frozenset()
    prose: frozenset[int] = frozenset()

    def holds_words(self, column: int) -> bool:
        return column < self.words or column in self.prose


class ReportChart(NamedTuple):
    """Drawings that share one scale, and the table of the figures they show; on a phone `narrow` stand for them."""

    drawings: Sequence[str]
    figures: Table
    narrow: Sequence[str] = ()


Block = Paragraph | Facts | Table | ReportChart


class ReportSection(NamedTuple):
    """A section. `note` stands beside its title."""

    title: str
    blocks: Sequence[Block]
    note: str = ""


class Document(NamedTuple):
    """A report. `lead` is its one sentence, `about` the lines under it."""

    title: str
    lead: str
    parts: Sequence[ReportSection]
    about: Sequence[str] = ()

    @property
    def tables(self) -> Iterator[Table]:
        """Every table of the report, those of charts too, in reading order."""
        for part in self.parts:
            for block in part.blocks:
                if isinstance(block, Table):
                    yield block
                elif isinstance(block, ReportChart):
                    yield block.figures
