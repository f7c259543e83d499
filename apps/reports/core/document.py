"""The document model of reports: a title, one leading sentence, and sections of paragraphs, facts, tables and charts.

Everything is plain text; the writers escape it. A document has no date of its making, so that the same values give the
same bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple


class Paragraph(NamedTuple):
    """A paragraph; a `quiet` one explains how to read the block above it."""

    text: str
    quiet: bool = False


class Facts(NamedTuple):
    """Terms with their values. `code`: the values are ids or digests."""

    rows: Sequence[tuple[str, str]]
    code: bool = False


class Table(NamedTuple):
    """Rows of formatted cells, as wide as the head.

    The first `words` columns contain words, the `prose` columns whole sentences, the others figures. `code` columns
    contain ids. `name` is the table's label for screen readers.
    """

    name: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    words: int = 1
    code: frozenset[int] = frozenset()
    prose: frozenset[int] = frozenset()

    def has_words(self, column: int) -> bool:
        return column < self.words or column in self.prose


class ReportChart(NamedTuple):
    """Drawings that share one scale, and the table of their figures; `narrow` replaces them on small screens."""

    drawings: Sequence[str]
    figures: Table
    narrow: Sequence[str] = ()


Block = Paragraph | Facts | Table | ReportChart


class ReportSection(NamedTuple):
    """A section; `note` is shown next to its title."""

    title: str
    blocks: Sequence[Block]
    note: str = ""


class Document(NamedTuple):
    """A report; `lead` is its leading sentence, `about` has the lines below it."""

    title: str
    lead: str
    parts: Sequence[ReportSection]
    about: Sequence[str] = ()

    @property
    def tables(self) -> Iterator[Table]:
        """Every table, including those of charts, in reading order."""
        for part in self.parts:
            for block in part.blocks:
                if isinstance(block, Table):
                    yield block
                elif isinstance(block, ReportChart):
                    yield block.figures
