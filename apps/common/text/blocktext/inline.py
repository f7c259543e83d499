"""The lines of a text, and code, emphasis, links and images inside of a paragraph, in linear time whatever it contains.

Follows Markdown's rules, except where plain text is more likely: `__init__`, `2*3*4`, ``TeX'' quotes,
`call[0](argument)` and `C:\\_old` stay as they are written.
"""

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import NamedTuple

from django.utils.html import escape

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


Span = tuple[int, int]


class Run(NamedTuple):
    """A stretch of the text. A sign (backticks, pipes, the address of a link) is not shown by itself."""

    start: int
    end: int
    is_sign: bool = False


@dataclass(slots=True)
class Node:
    """An element: a leaf contains runs and literal tags, any other one contains elements.

    Between the end of one leaf and the `start` of the next there is only white space.
    """

    tag: str
    attributes: str = ""
    children: "list[Node]" = field(default_factory=list)
    pieces: list[Run | str] | None = None
    start: int = 0
    end: int = 0


_SPECIAL = re.compile(r"\\|`+|\*+|_+|~~|!?\[|\]|<")
_TICKS = re.compile(r"`+")
_ESCAPABLE = "*_`#|<>~"
_AUTOLINK = re.compile(r"<(?:https?://[^\s<>]+|(?:mailto:)?[\w.+-]+@[\w.-]+)>")
_HTML_TAG = re.compile(r"</?[A-Za-z][^<>]*>")
_DUNDER = re.compile(r"__[a-z][a-z0-9_]{0,60}__(?!\w)")
_TARGET = re.compile(
    r"\(\s*+(?P<to><[^<>\n]*>|[^\s()<>]*(?:\([^\s()]*\)[^\s()<>]*)*+)"
    r"(?:\s++(?:\"[^\"]*\"|'[^']*'|\([^()]*\)))?\s*+\)"
)
_LABEL = re.compile(r"\[([^\[\]]*)\]")
_DEFINED = re.compile(r"^ {0,3}\[([^\[\]\n]+)\]:[ \t]*\S", re.MULTILINE)
_QUOTE_END = re.compile(r"'(?!\w)")
LONGEST_TITLE = 300
LONGEST_LABEL = 999


class Element(NamedTuple):
    start: int
    end: int
    opening: str
    closing: str


@dataclass(slots=True)
class _Delimiter:
    """A row of *, _ or ~ that may open or close emphasis."""

    start: int
    count: int
    sign: str
    can_open: bool
    can_close: bool


class _Bracket(NamedTuple):
    start: int
    inside: int
    is_image: bool
    delimiters: int


def definitions(text: str) -> set[str]:
    """The labels that links of this text may name: `[label]: address`."""
    return {_key(match.group(1)) for match in _DEFINED.finditer(text)} if "]:" in text else set()


def pieces(
    text: str,
    start: int,
    end: int,
    *,
    labels: Collection[str] = (),
    prefixes: Iterable[Span] = (),
    breaks: Iterable[int] = (),
) -> list[Run | str]:
    """The runs of text[start:end] with the tags between them.

    `prefixes` are the signs of enclosing elements at the beginnings of the paragraph's lines; `breaks` are the line
    ends that are hard line breaks.
    """
    scan = _Scan(text, start, end, labels)
    scan.run()
    return list(_woven(start, end, scan.elements, sorted([*scan.signs, *prefixes]), breaks))


@dataclass(slots=True)
class _Scan:
    text: str
    start: int
    end: int
    labels: Collection[str]
    elements: list[Element] = field(default_factory=list)
    signs: list[Span] = field(default_factory=list)
    _delimiters: list[_Delimiter] = field(default_factory=list)
    _brackets: list[_Bracket] = field(default_factory=list)
    _ticks: dict[int, list[int]] | None = None

    def run(self) -> None:
        at = self.start
        while match := _SPECIAL.search(self.text, at, self.end):
            at = self._take(match.group()[0], match.start(), match.end())
        self._pair(0)

    def _take(self, sign: str, start: int, end: int) -> int:
        """Handle the sign at `start`; return the offset where scanning continues."""
        if sign == "\\":
            return self._escaped(start)
        if sign == "`":
            return self._code(start, end)
        if sign == "<":
            return self._angle(start)
        if sign in "[!":
            self._brackets.append(_Bracket(start, end, sign == "!", len(self._delimiters)))
            return end
        if sign == "]":
            return self._link(start)
        return self._delimiter(start, end)

    def _escaped(self, at: int) -> int:
        following = self.text[at + 1 : at + 2] if at + 1 < self.end else ""
        before = self.text[at - 1] if at > self.start else ""
        if following and following in _ESCAPABLE and before not in (":", "\\"):
            self.signs.append((at, at + 1))
        return at + 2 if following and not following.isalnum() and not following.isspace() else at + 1

    def _code(self, start: int, inside: int) -> int:
        if self._ticks is None:
            self._ticks = defaultdict(list)
            for run in _TICKS.finditer(self.text, self.start, self.end):
                self._ticks[run.end() - run.start()].append(run.start())
        ticks = inside - start
        places = self._ticks[ticks]
        later = bisect_right(places, start)
        if later == len(places):
            return inside
        stop = places[later]
        content = self.text[inside:stop]
        if not content.strip() or _is_quoted(content, ticks):
            return inside
        if content[0] == " " == content[-1]:
            inside, stop = inside + 1, stop - 1
        self.signs += [(start, inside), (stop, places[later] + ticks)]
        self.elements.append(Element(inside, stop, "<code>", "</code>"))
        return places[later] + ticks

    def _angle(self, at: int) -> int:
        if link := _AUTOLINK.match(self.text, at, self.end):
            self.signs += [(at, at + 1), (link.end() - 1, link.end())]
            return link.end()
        tag = _HTML_TAG.match(self.text, at, self.end)
        return tag.end() if tag else at + 1

    def _link(self, at: int) -> int:
        if not self._brackets:
            return at + 1
        bracket = self._brackets.pop()
        end, to = self._target(bracket, at)
        if end is None or not self.text[bracket.inside : at].strip():
            return at + 1
        self._pair(bracket.delimiters)
        name = "image" if bracket.is_image else "address"
        title = f' title="{escape(to[:LONGEST_TITLE])}"' if to else ""
        self.elements.append(Element(bracket.inside, at, f'<span class="{name}"{title}>', "</span>"))
        self.signs += [(bracket.start, bracket.inside), (at, end)]
        if not bracket.is_image:
            self._brackets.clear()
        return end

    def _target(self, bracket: _Bracket, at: int) -> tuple[int | None, str]:
        """The end of the link whose text ends at `at`, and its target; (None, "") when it is not a link."""
        if target := _TARGET.match(self.text, at + 1, self.end):
            to = target.group("to").strip("<>")
            before = self.text[bracket.start - 1] if bracket.start > self.start else " "
            is_call = before.isascii() and (before.isalnum() or before in "_)]")
            is_address = any(sign in to for sign in "/.#:@?") or target.group("to").startswith("<")
            if is_address and not (is_call and "://" not in to and to[:1] not in "/#."):
                return target.end(), to
            return None, ""
        label = _LABEL.match(self.text, at + 1, self.end)
        words = label.group(1) if label and label.group(1).strip() else self.text[bracket.inside : at][:LONGEST_LABEL]
        if self.labels and _key(words) in self.labels and self.text[at + 1 : at + 2] != ":":
            return (label.end() if label else at + 1), ""
        return None, ""

    def _delimiter(self, start: int, end: int) -> int:
        sign = self.text[start]
        if sign == "_" and (name := _DUNDER.match(self.text, start, self.end)):
            return name.end()
        before = self.text[start - 1] if start > self.start else " "
        after = self.text[end] if end < self.end else " "
        opens = not after.isspace() and (_is_letter(after) or not _is_letter(before))
        closes = not before.isspace() and (_is_letter(before) or not _is_letter(after))
        is_inside_a_word = _is_letter(before) and _is_letter(after)
        if is_inside_a_word and (sign == "_" or (end - start == 1 and before.isascii() and after.isascii())):
            return end
        if (before == "/" and after.isspace()) or (after == "/" and before.isspace()):
            return end  # a comment of code begins or ends
        if opens or closes:
            self._delimiters.append(_Delimiter(start, end - start, sign, opens, closes))
        return end

    def _pair(self, first: int) -> None:
        """Pair the delimiters from `first` on: each closing one with the nearest open one of its sign."""
        opened: list[_Delimiter] = []
        waiting: Counter[str] = Counter()
        for one in self._delimiters[first:]:
            while one.can_close and one.count and waiting[one.sign]:
                while opened[-1].sign != one.sign:
                    waiting[opened.pop().sign] -= 1
                self._emphasis(opened[-1], one)
                if not opened[-1].count:
                    waiting[opened.pop().sign] -= 1
            if one.can_open and one.count:
                opened.append(one)
                waiting[one.sign] += 1
        del self._delimiters[first:]

    def _emphasis(self, opener: _Delimiter, closer: _Delimiter) -> None:
        """Use the signs that both have in common; two rows that touch have nothing between them to emphasise."""
        width = 2 if opener.count >= 2 and closer.count >= 2 else 1
        tag = "s" if opener.sign == "~" else "strong" if width == 2 else "em"
        inside = opener.start + opener.count
        if inside == closer.start:
            closer.can_close = False
            return
        self.elements.append(Element(inside, closer.start, f"<{tag}>", f"</{tag}>"))
        self.signs += [(inside - width, inside), (closer.start, closer.start + width)]
        opener.count -= width
        closer.start += width
        closer.count -= width


def _woven(
    start: int, end: int, elements: list[Element], signs: list[Span], breaks: Iterable[int]
) -> Iterator[Run | str]:
    events = [(one.start, 2, -one.end, one.opening) for one in elements]
    events += [(one.end, 0, -one.start, one.closing) for one in elements]
    events += [(at, 1, 0, "<br>") for at in breaks]
    cutter = _Cutter(start, signs)
    for at, _, _, tag in sorted(events):
        yield from cutter.until(at)
        yield tag
    yield from cutter.until(end)


class _Cutter:
    """Cuts the text into runs, signs and words separately. `signs` are in order."""

    def __init__(self, start: int, signs: list[Span]) -> None:
        self._at = start
        self._signs = signs
        self._next = 0

    def until(self, end: int) -> Iterator[Run]:
        while self._next < len(self._signs) and self._signs[self._next][0] < end:
            first, last = self._signs[self._next]
            if self._at < first:
                yield Run(self._at, first)
            stop = min(last, end)
            if max(first, self._at) < stop:
                yield Run(max(first, self._at), stop, True)
            self._at = max(self._at, stop)
            if last > end:
                return
            self._next += 1
        if self._at < end:
            yield Run(self._at, end)
            self._at = end


def _is_quoted(content: str, ticks: int) -> bool:
    """Whether backticks are opening quotes that the text closes with apostrophes, as in TeX."""
    if ticks == 2:
        return "''" in content
    return ticks == 1 and content.count("'") % 2 == 1 and bool(_QUOTE_END.search(content))


def _is_letter(sign: str) -> bool:
    return sign.isalnum() or sign == "_"


def _key(label: str) -> str:
    return " ".join(label.split()).casefold()
