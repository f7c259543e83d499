"""The lines of a text, each with its indentation, and the signs by which Markdown marks them."""

import re
from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import NamedTuple

TAB = 4
CODE_INDENT = 4

HEADING = re.compile(r"#{1,6}(?:[ \t]+|$)")
RULE = re.compile(r"(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$")
QUOTE = re.compile(r">[ \t]?")
ITEM = re.compile(r"(?:(?P<bullet>[-*+•·▪◦‣●–])|(?P<number>\d{1,3})[.)](?![ \t]+\d{1,2}\.))(?=[ \t]|$)")
_FENCE = re.compile(r"(?P<ticks>`{3,})(?P<info>[^`\n]*)$|(?P<tildes>~{3,})(?P<about>[^\n]*)$")
_UNDERLINE = re.compile(r"={3,}$|-{3,}$")
_RULE_ROW = " \t|:+-"


class TextLine(NamedTuple):
    """A line of a text: its indentation in columns, and the offsets of its first and last non-blank characters."""

    text: str
    start: int
    first: int
    end: int
    indent: int

    @property
    def is_blank(self) -> bool:
        return self.first >= self.end

    @property
    def content(self) -> str:
        return self.text[self.first : self.end]

    @property
    def length(self) -> int:
        return self.end - self.first

    @property
    def after(self) -> int:
        """The offset after this line and its line break."""
        line_break = self.text.find("\n", self.end)
        return len(self.text) if line_break < 0 else line_break + 1

    def match(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """The match at the first character, with offsets in the text."""
        return pattern.match(self.text, self.first, self.end)

    def without(self, columns: int) -> "TextLine":
        """The line without its first columns of indentation."""
        at, gone = self.start, 0
        while gone < columns and at < self.first and self.text[at] in " \t":
            gone += TAB - gone % TAB if self.text[at] == "\t" else 1
            at += 1
        return TextLine(self.text, at, self.first, max(at, self.end), max(0, self.indent - gone))

    def rest(self, start: int) -> "TextLine":
        """The line from this offset on, as if it began there."""
        return line_between(self.text, start, self.end)


def lines_of(text: str) -> Iterator[TextLine]:
    at = 0
    for raw in text.split("\n"):
        yield line_between(text, at, at + len(raw.rstrip()))
        at += len(raw) + 1


def line_between(text: str, start: int, end: int) -> TextLine:
    columns, at = 0, start
    while at < end and text[at] in " \t":
        columns += TAB - columns % TAB if text[at] == "\t" else 1
        at += 1
    while at < end and text[at].isspace():
        at += 1
    return TextLine(text, start, at, max(start, end), columns)


def until_blank(lines: Sequence[TextLine], at: int) -> list[TextLine]:
    places = takewhile(lambda place: not lines[place].is_blank, range(at, len(lines)))
    return [lines[place] for place in places]


def not_blank(lines: Sequence[TextLine]) -> list[TextLine]:
    return [line for line in lines if not line.is_blank]


def fence_of(line: TextLine) -> str:
    """The fence that this line opens, or ""."""
    if line.indent >= CODE_INDENT or line.is_blank or line.text[line.first] not in "`~":
        return ""
    match = line.match(_FENCE)
    return (match["ticks"] or match["tildes"]) if match else ""


def closes(line: TextLine, fence: str) -> bool:
    content = line.content
    return line.indent < CODE_INDENT and len(content) >= len(fence) and not content.strip(fence[0])


def item_of(line: TextLine) -> re.Match[str] | None:
    """The sign of the list item that this line begins."""
    if line.is_blank or line.indent >= CODE_INDENT + 2 or line.match(RULE):
        return None
    return line.match(ITEM)


def underline_of(line: TextLine) -> int:
    """The end of a line that makes the one above it a heading (setext); 0 for any other line."""
    return line.end if line.indent < CODE_INDENT and line.match(_UNDERLINE) else 0


def starts_block(line: TextLine) -> bool:
    """Whether this line ends a paragraph directly above it."""
    if line.indent >= CODE_INDENT:
        return False
    if line.text[line.first] in "#`~>" and (line.match(HEADING) or line.match(QUOTE) or fence_of(line)):
        return True
    if (item := line.match(ITEM)) and item.end() < line.end:
        return item["number"] in (None, "1")
    return bool(line.match(RULE))


def is_rule_row(lines: Sequence[TextLine], at: int) -> bool:
    """Whether the line at this index, if there is one, separates the head of a table from its rows."""
    if at >= len(lines) or lines[at].is_blank or lines[at].text[lines[at].first] not in "|:-":
        return False
    content = lines[at].content
    return "-" in content and not content.strip(_RULE_ROW) and ("|" in content or "---" in content)


def is_table(run: Sequence[TextLine]) -> bool:
    rows = [line.content for line in run]
    if "|" in rows[0] and is_rule_row(run, 1):
        return "|" in rows[1] or len(run) > 2
    if all(row.count("|") >= 2 for row in rows):
        return all(row[0] == "|" for row in rows) or len({row.count("|") for row in rows}) == 1
    return all("\t" in row for row in rows) and not any(line.indent for line in run)
