"""The outline of a document: its headings, paragraphs, lists, tables and code in order, and the rows of a table."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from markdown_it import MarkdownIt
from markdown_it.token import Token

from apps.corpus.core.documents import Document

HEADING, TEXT, LIST, TABLE, CODE = "heading", "text", "list", "table", "code"

_BLOCKS = MarkdownIt("commonmark").enable("table").disable(["inline"])
_INLINE = MarkdownIt("commonmark")
_EXPLICIT_ANCHOR = re.compile(r"\s*\{#(?P<anchor>[\w.:-]+)\}\s*$")
_CODE_TOKENS = {"fence", "code_block"}
_PARAGRAPH_END = re.compile(r"\n[ \t]*\n\s*")
_PIPES = re.compile(r"(?! {0,3}(?:[-+*>]|\d{1,9}[.)])[ \t])[^\n]*\n[ \t|:]*-[- \t|:]*\n")
"""The heading and the line below it of a table that is in no list."""
_CSV_FENCE = re.compile(r" {0,3}(?P<fence>`{3,}|~{3,})[ \t]*[{.]*(?:csv|tsv)\b[^\n]*\n", re.IGNORECASE)
_HTML_TABLE = re.compile(r"\s*<table\b", re.IGNORECASE)
_HTML_PART = re.compile(r"<(?P<part>/?table|tr|/thead)\b[^<>]*>", re.IGNORECASE)


class Unit(NamedTuple):
    """A part of a document's text from offset `start` to `end`.

    A heading has a level from 1 to 6, its words as plain text, and the anchor that its author gave it, if any. Of a
    table in parts, `head` is what a later part repeats before it, `tail` what ends a part that is not the last.
    """

    start: int
    end: int
    kind: str
    level: int = 0
    title: str = ""
    anchor: str = ""
    head: str = ""
    tail: str = ""


def outline(text: str, *, is_markdown: bool = True) -> list[Unit]:
    """The units of a text in order. Every line that is not blank is in exactly one of them.

    Headings are those that Markdown knows: a `#` inside a fence is none, a line underlined with `===` is one. Only
    headings outside lists and quotations divide a document.
    """
    units = _markdown_units(text) if is_markdown else _paragraphs(text)
    return list(_with_whole_tables(text, units))


def first_title(text: str) -> str:
    """The words of the heading that a text begins with at level 1; "" when its first heading is another."""
    first = next((unit for unit in outline(text) if unit.kind == HEADING), None)
    return first.title if first is not None and first.level == 1 else ""


def code_in(text: str) -> list[tuple[int, int]]:
    """Where the blocks of code of a Markdown text begin and end, also those in lists and quotations."""
    starts = _line_starts(text)
    ends = [*starts, len(text)]
    lines = (token.map for token in _BLOCKS.parse(text) if token.type in _CODE_TOKENS and token.map)
    return [(starts[first], ends[last]) for first, last in lines]


def _paragraphs(text: str) -> list[Unit]:
    """Of text without markup: paragraphs end at blank lines."""
    ends = [found.end() for found in _PARAGRAPH_END.finditer(text)]
    spans = pairwise([0, *ends, len(text)])
    return [Unit(start, end, TEXT) for start, end in spans if text[start:end].strip()]


def _markdown_units(text: str) -> list[Unit]:
    starts = _line_starts(text)
    lines = len(starts) - 1
    units: list[Unit] = []
    done = 0
    for first, last, kind, block in _spans(text, starts):
        first, last = max(first, done), min(last, lines)
        if last <= first:
            continue
        units.extend(_between(text, starts, done, first))
        units.append(_unit(starts[first], starts[last], kind, block))
        done = last
    units.extend(_between(text, starts, done, lines))
    return units


def _spans(text: str, starts: list[int]) -> Iterator[tuple[int, int, str, Sequence[Token]]]:
    """(first line, line after the last, kind, tokens) of each block at the top, and of each item of a list there."""
    for block in _blocks(_BLOCKS.parse(text)):
        token = block[0]
        if token.map is None:
            continue
        first, last = token.map
        if token.type == "heading_open":
            yield first, last, HEADING, block
        elif token.type.endswith("list_open"):
            yield from _list_spans(block, first, last)
        else:
            yield first, last, _kind_of(block, text[starts[first] : starts[min(last, len(starts) - 1)]]), block


def _blocks(tokens: Sequence[Token]) -> Iterator[list[Token]]:
    """The tokens of each block at the top, from the one that opens it to the one that closes it."""
    block: list[Token] = []
    for token in tokens:
        block.append(token)
        if token.level == 0 and token.nesting <= 0:
            yield block
            block = []


def _list_spans(block: Sequence[Token], first: int, last: int) -> Iterator[tuple[int, int, str, Sequence[Token]]]:
    """A list may be cut between its items, unless one of them has code or a table."""
    kinds = {token.type for token in block}
    if kinds & (_CODE_TOKENS | {"table_open", "html_block"}):
        yield first, last, CODE if kinds & _CODE_TOKENS else TABLE, block
        return
    begins = [token.map[0] for token in block if token.type == "list_item_open" and token.level == 1 and token.map]
    for begin, end in pairwise([first, *begins[1:], last]):
        yield begin, end, LIST, block


def _kind_of(block: Sequence[Token], text: str) -> str:
    kinds = {token.type for token in block}
    if kinds & _CODE_TOKENS:
        return CODE
    if "table_open" in kinds:
        return TABLE
    if "html_block" in kinds:
        return TABLE if "<table" in text.lower() else CODE if "<pre" in text.lower() else TEXT
    return TEXT


def _between(text: str, starts: list[int], first: int, last: int) -> Iterator[Unit]:
    """Lines that no block has, such as definitions of links."""
    start, end = starts[first], starts[last]
    if text[start:end].strip():
        yield Unit(start, end, TEXT)


def _unit(start: int, end: int, kind: str, block: Sequence[Token]) -> Unit:
    if kind != HEADING:
        return Unit(start, end, kind)
    words = block[1].content
    found = _EXPLICIT_ANCHOR.search(words)
    if found:
        words = words[: found.start()]
    return Unit(start, end, kind, int(block[0].tag[1:]), _plain(words), found["anchor"] if found else "")


def _plain(words: str) -> str:
    """The words of a heading without their markup."""
    parts = []
    for token in _INLINE.parseInline(words)[0].children or []:
        if token.type in {"text", "code_inline", "image", "text_special"}:
            parts.append(token.content)
        elif token.type in {"softbreak", "hardbreak"}:
            parts.append(" ")
    return " ".join("".join(parts).split())


def _line_starts(text: str) -> list[int]:
    """The offset of each line, and the length of the text at the end."""
    starts = [0, *(found.end() for found in re.finditer("\n", text))]
    return starts if starts[-1] == len(text) else [*starts, len(text)]


def _with_whole_tables(text: str, units: list[Unit]) -> Iterator[Unit]:
    """Tables of HTML that blank lines divide are put together again."""
    opened: Unit | None = None
    for unit in units:
        if opened is not None:
            opened = opened._replace(end=unit.end)
            if "</table" in text[unit.start : unit.end].lower():
                yield opened
                opened = None
        elif unit.kind == TABLE and _is_left_open(text[unit.start : unit.end].lower()):
            opened = unit
        else:
            yield unit
    if opened is not None:
        yield opened


def _is_left_open(html: str) -> bool:
    return html.count("<table") > html.count("</table")


def outline_of(document: Document) -> Sequence[Unit]:
    """The outline of a document, for every recipe that it is cut by."""
    return outline(document.text, is_markdown=document.kind != "text")


def table_rows(table: str) -> tuple[list[int], str]:
    """(where each row begins after the heading, what closes a part of the table), without rows for what is no table.

    A table is one of Markdown or of HTML, or a block of code that is called `csv` or `tsv`.
    """
    if found := _CSV_FENCE.match(table):
        return _csv_rows(table, found.end()), "\n" + found["fence"]
    if _HTML_TABLE.match(table):
        return _html_rows(table), "\n</table>"
    if found := _PIPES.match(table):
        return [start for start in _line_starts(table) if found.end() <= start < len(table)], ""
    return [], ""


def _csv_rows(code: str, first: int) -> list[int]:
    """A line inside quotes begins no row. The line that ends the block belongs to the last one."""
    last = code.rstrip().rfind("\n") + 1
    quotes, starts = 0, []
    for start, end in pairwise(start for start in _line_starts(code) if start >= first):
        quotes += code.count('"', start, end)
        if quotes % 2 == 0 and end < last:
            starts.append(end)
    return starts


def _html_rows(table: str) -> list[int]:
    """Of the outermost table. None where a cell reaches over several rows below the heading."""
    depth, starts, heading = 0, [], 0
    for found in _HTML_PART.finditer(table):
        part = found["part"].lower()
        depth += (part == "table") - (part == "/table")
        if depth == 1 and part == "tr":
            starts.append(found.start())
        elif depth == 1 and part == "/thead":
            heading = found.end()
        elif depth == 0:
            break
    if not heading and len(starts) > 1 and "<th" in table[starts[0] : starts[1]].lower():
        heading = starts[1]
    rows = [start for start in starts if start >= heading]
    return [] if rows and "rowspan" in table[rows[0] :].lower() else rows
