"""A document as Markdown with the tables of GitHub's flavour, and writing reports to files. Charts become tables."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

from apps.common.errors import InputError
from apps.common.text.markdown_cells import as_code, code_cell, escaped, rows_of
from apps.reports.core.document import Block, Document, Facts, Paragraph, ReportChart, ReportSection, Table
from apps.reports.formats.html import as_html

LIST_OR_HEADING = re.compile(r"\A(\d*)([#+-]|[.)](?=\s))")


def as_markdown(document: Document) -> str:
    """The whole file. Markdown in the texts is escaped."""
    blocks = [f"# {escaped(document.title)}", f"**{escaped(document.lead)}**", *map(_paragraph, document.about)]
    for part in document.parts:
        blocks += _part(part)
    return "\n\n".join(blocks) + "\n"


def _part(part: ReportSection) -> Iterator[str]:
    yield f"## {escaped(part.title)}"
    if part.note:
        yield f"_{escaped(part.note)}_"
    yield from (text for block in part.blocks for text in _block(block))


def _block(block: Block) -> Iterator[str]:
    if isinstance(block, Paragraph):
        yield _paragraph(block.text)
    elif isinstance(block, Facts):
        write = as_code if block.code else escaped
        yield "\n".join(f"- {escaped(term)}: {write(text)}" for term, text in block.rows)
    elif isinstance(block, ReportChart):
        yield f"**{escaped(block.figures.name)}**"
        yield _table(block.figures)
    else:
        yield _table(block)


def _table(table: Table) -> str:
    rule = [":---" if table.has_words(column) else "---:" for column in range(len(table.head))]
    rows = [[escaped(words) for words in table.head], rule]
    rows += [
        [code_cell(text) if column in table.code else escaped(text) for column, text in enumerate(row)]
        for row in table.rows
    ]
    return rows_of(rows)


def _paragraph(text: str) -> str:
    """A paragraph; what would begin a heading or a list is escaped."""
    return LIST_OR_HEADING.sub(r"\1\\\2", escaped(text))


def write_reports(document: Document, *, html: str | Path | None, markdown: str | Path | None) -> None:
    """Write the document in each format that has a path. Raises InputError for a path that cannot be written."""
    formats: list[tuple[str | Path | None, Callable[[Document], str]]] = [(html, as_html), (markdown, as_markdown)]
    for path, write in formats:
        if path:
            try:
                Path(path).write_text(write(document), encoding="utf-8", newline="\n")
            except OSError as error:
                raise InputError(str(path), None, "", "", f"cannot be written: {error.strerror}.") from error
