"""AsciiDoc as Markdown: its headings, blocks of code, lists, tables, links and emphasis; attributes and comments go."""

from __future__ import annotations

import re
from collections.abc import Iterator

from apps.corpus.core.documents import Document
from apps.corpus.core.outlines import first_title
from apps.corpus.formats.documents import SourceFile
from apps.corpus.formats.documents.records import text_of

_HEADING = re.compile(r"(={1,6})\s+(\S.*?)(?:\s+=+)?\Z")
_DROPPED = re.compile(r"//(?!/)|:!?[\w-]+!?:|\[[^\]]*\]\s*\Z|(?:include|image|toc|video|audio)::|<<<\Z|'''\Z|\+\Z")
_TITLE = re.compile(r"\.(?=[^\s.])(.*)\Z")
_BULLET = re.compile(r"(\*{1,5}|-)\s+(?=\S)")
_NUMBERED = re.compile(r"(\.{1,5})\s+(?=\S)")
_TERM = re.compile(r"(\S.*?)::(?:\s+(.*))?\Z")
_LINK = re.compile(r"(?:link:|xref:)?((?:https?://|mailto:)?[^\s\[\]<>`]+)\[([^\]]+)\]")
_CROSS = re.compile(r"<<[^,>]+(?:,\s*([^>]*))?>>")
_BOLD = re.compile(r"(?<![\w*])\*(?=\S)([^*\n]+?)(?<=\S)\*(?![\w*])")
_CELL = re.compile(r"(?:^|(?<=\s))[\w.+^<>]*\|")
CODE = ("----", "....", "```")
COMMENT, TABLE, FENCE = "////", "|===", "```"
FRAMES = ("====", "****", "____", "--")
"""What frames notes, sidebars, quotes and open blocks: their content is text."""


def read_asciidoc(file: SourceFile) -> Iterator[Document]:
    decoded = text_of(file)
    text = as_markdown(decoded.text)
    yield Document(file.path, "asciidoc", first_title(text), text, {}, note=decoded.note)


def as_markdown(text: str) -> str:
    """The text as Markdown. Whatever is not known stays as it is."""
    out: list[str] = []
    lines = iter(text.splitlines())
    for line in lines:
        mark = line.rstrip()
        if mark == COMMENT:
            list(_until(lines, COMMENT))
        elif mark in CODE:
            out += [FENCE, *_until(lines, mark), FENCE]
        elif mark == TABLE:
            out += _table(list(_until(lines, TABLE)))
        elif mark not in FRAMES and not _DROPPED.match(mark):
            out.append(_line(mark))
    return "\n".join(out) + "\n"


def _until(lines: Iterator[str], mark: str) -> Iterator[str]:
    for line in lines:
        if line.rstrip() == mark:
            return
        yield line


def _line(line: str) -> str:
    if heading := _HEADING.match(line):
        return f"{'#' * len(heading[1])} {_words(heading[2])}"
    if title := _TITLE.match(line):
        return f"**{_words(title[1])}**\n"
    if bullet := _BULLET.match(line):
        indent = 0 if bullet[1] == "-" else len(bullet[1]) - 1
        return f"{'  ' * indent}- {_words(line[bullet.end() :])}"
    if numbered := _NUMBERED.match(line):
        return f"{'   ' * (len(numbered[1]) - 1)}1. {_words(line[numbered.end() :])}"
    if (term := _TERM.match(line)) and "://" not in term[1]:
        return f"**{_words(term[1])}** {_words(term[2] or '')}".rstrip()
    return _words(line)


def _words(text: str) -> str:
    text = _CROSS.sub(lambda cross: cross[1] or "", text)
    return _BOLD.sub(r"**\1**", _LINK.sub(r"[\2](\1)", text))


def _table(lines: list[str]) -> list[str]:
    """The rows of a table, with as many cells as its first line has; its lines where they do not come out even."""
    cells: list[str] = []
    width = 0
    for line in lines:
        before, *begun = _CELL.split(line)
        if before.strip() and cells:
            cells[-1] = f"{cells[-1]} {before.strip()}"
        cells += map(str.strip, begun)
        width = width or len(begun)
    flat = list(map(_words, cells))
    if width < 2 or len(flat) % width:
        return ["", *lines, ""]
    rows = [flat[start : start + width] for start in range(0, len(flat), width)]
    shown = [f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |" for row in rows]
    return ["", shown[0], f"|{' --- |' * width}", *shown[1:], ""]
