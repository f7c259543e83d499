"""Paragraphs, code, lists, quotations, headings and tables of a text, parsed in linear time whatever it contains.

Texts are Markdown, plain text or pieces cut out of either, and nothing records which. So Markdown's signs count where
Markdown allows them, and all other line breaks are kept, except in prose that was filled to a width.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise, takewhile
from typing import NamedTuple

from apps.common.text.blocktext import inline
from apps.common.text.blocktext.pieces import Node, Run, Span

DEEPEST = 8
TAB = 4
CODE_INDENT = 4
SCROLLS_FROM = 32  # characters of a line of code: fewer fit a phone in any font
FILLED_FROM = 40  # characters: nobody fills lines narrower than this
RAGGED = 14  # characters: filled lines may end this early although the next word would have fitted
FILLED_SHARE = 0.85
RUNNING_SHARE = 0.6
FEWEST = 30  # characters of a line on average: verses and lists of words are shorter
CODE_SHARE = 0.7
LONG_PROSE = 100
LONGEST_CODE = 160  # characters: longer lines are not code unless marked as code

_FENCE = re.compile(r"(?P<ticks>`{3,})(?P<info>[^`\n]*)$|(?P<tildes>~{3,})(?P<about>[^\n]*)$")
_LANGUAGE = re.compile(r"[\w+#.-]{1,20}")
_HEADING = re.compile(r"#{1,6}(?:[ \t]+|$)")
_UNDERLINE = re.compile(r"={3,}$|-{3,}$")
_RULE = re.compile(r"(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$")
_QUOTE = re.compile(r">[ \t]?")
_ITEM = re.compile(r"(?:(?P<bullet>[-*+•·▪◦‣●–])|(?P<number>\d{1,3})[.)](?![ \t]+\d{1,2}\.))(?=[ \t]|$)")
_RULE_ROW = " \t|:+-"
_PROMPT = re.compile(r">>> ")
_CODE_LINE = re.compile(
    r"""\s*(?:
        (?:\$|>>>|\.\.\.|//|/\*|\*/|\#!)(?:\s|\S*$)
      | </?[a-zA-Z!][^<>]*>
      | @\w+(?:\(.*\))?$
      | (?:def|class|import|return|func|function|const|let|var|public|private|static|void|\#include|package|namespace
          |SELECT|INSERT|UPDATE|CREATE|FROM|WHERE|elif|else|try|finally|except|end|fi|done)\b.*[^.!?]$
      | from\s\S+\simport\b
      | (?:if|for|while|with|switch)\b.*[:{]$
      | [\w.\[\]"'$*-]+(?:\s*:\s*\w+)?\s*(?:=|:=|\+=|-=|=>|->)\s*\S
      | "[^"]*"\s*:\s
      | [{}()\[\];,]+$
      | .*(?:[{}(\[\\]|[)\]}][;,]|\}\))$
      | .*\w\(.*\);?$
    )""",
    re.VERBOSE,
)
_SETTING = re.compile(r"[\w.-]+\s?[=:]")
_OPENING = "[(*_`\"'“‘„«"
_PROSE_END = re.compile(r"[.!?…:]['\")\]”’]*$")
_WORDLIKE = re.compile(r"[\w ,.'’;:()-]")


class TextLine(NamedTuple):
    """A line of the text: its indentation in columns, and the offsets of its first and last non-blank characters."""

    start: int
    first: int
    end: int
    indent: int

    @property
    def is_blank(self) -> bool:
        return self.first >= self.end


def parse(text: str) -> list[Node]:
    """The elements of `text` in order; every non-blank character of it is in exactly one leaf."""
    return _Reader(text).read()


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.labels = inline.definitions(text)
        self._at = 0  # everything before it is in a leaf or is blank
        self._last: Node | None = None
        self._prose_until = 0  # indented lines before it are known to be prose

    def read(self) -> list[Node]:
        lines = list(self._lines())
        nodes: list[Node] = []
        if cut := self._cut_in_code(lines):
            start, closing = cut
            nodes.append(self._code(lines[start], lines[start:closing], closing=lines[closing]))
            lines = lines[closing + 1 :]
        nodes += self._blocks(lines, 0)
        rest = self._unread(len(self.text))
        if rest < len(self.text):
            nodes.append(self._leaf("p", rest, len(self.text.rstrip()), [Run(rest, len(self.text.rstrip()))]))
        return nodes

    # Lines ---------------------------------------------------------------------------------------------------

    def _lines(self) -> Iterator[TextLine]:
        at = 0
        for raw in self.text.split("\n"):
            yield self._line(at, at + len(raw.rstrip()))
            at += len(raw) + 1

    def _line(self, start: int, end: int) -> TextLine:
        columns, at = 0, start
        while at < end and self.text[at] in " \t":
            columns += TAB - columns % TAB if self.text[at] == "\t" else 1
            at += 1
        while at < end and self.text[at].isspace():
            at += 1
        return TextLine(start, at, max(start, end), columns)

    def _without(self, line: TextLine, columns: int) -> TextLine:
        """The line without its first columns of indentation."""
        at, gone = line.start, 0
        while gone < columns and at < line.first and self.text[at] in " \t":
            gone += TAB - gone % TAB if self.text[at] == "\t" else 1
            at += 1
        return TextLine(at, line.first, max(at, line.end), max(0, line.indent - gone))

    def _content(self, line: TextLine) -> str:
        return self.text[line.first : line.end]

    # Leaves --------------------------------------------------------------------------------------------------

    def _unread(self, end: int) -> int:
        """The offset of the first character that is in no leaf yet, or `end`."""
        raw = self.text[self._at : end]
        return self._at + len(raw) - len(raw.lstrip())

    def _leaf(self, tag: str, start: int, end: int, pieces: list[Run | str], attributes: str = "") -> Node:
        """A leaf from `start` to `end`; signs that were skipped before it become its first runs."""
        first = self._unread(start)
        if first < start:
            pieces = [Run(first, start, True), *pieces]
        self._at = end
        self._last = Node(tag, attributes, pieces=pieces, start=min(first, start), end=end)
        return self._last

    def _close(self, end: int) -> None:
        """Add what was skipped up to `end` to the last leaf: a closing fence, the pipe after a cell."""
        if self._last is not None and self._last.pieces is not None and self._unread(end) < end:
            self._last.pieces.append(Run(self._at, end, True))
            self._last.end = self._at = end

    def _words(self, tag: str, start: int, end: int) -> Node:
        """A leaf on one line."""
        return self._leaf(tag, start, end, inline.pieces(self.text, start, end, labels=self.labels))

    # Blocks --------------------------------------------------------------------------------------------------

    def _blocks(self, lines: Sequence[TextLine], depth: int) -> list[Node]:
        nodes: list[Node] = []
        at = 0
        while at < len(lines):
            if lines[at].is_blank:
                at += 1
                continue
            node, at = self._block(lines, at, depth)
            if node is not None:
                nodes.append(node)
        return nodes

    def _block(self, lines: Sequence[TextLine], at: int, depth: int) -> tuple[Node | None, int]:
        line = lines[at]
        content = self._content(line)
        if line.indent >= CODE_INDENT and line.start >= self._prose_until:
            return self._indented(lines, at, depth)
        if fence := self._fence(line):
            return self._fenced(lines, at, fence)
        if at == 0 or lines[at - 1].is_blank:
            run = _until_blank(lines, at)
            if self._is_code(run):
                return self._code(line, run), at + len(run)
        if heading := _HEADING.match(content):
            return self._heading(line, line.first + heading.end()), at + 1
        if _RULE.match(content):
            rule: list[Run | str] = [Run(line.first, line.end, True)]
            return self._leaf("div", line.first, line.end, rule, ' class="rule" role="separator"'), at + 1
        if depth < DEEPEST:
            if _QUOTE.match(content):
                return self._quotation(lines, at, depth)
            if _ITEM.match(content):
                return self._list(lines, at, depth)
        return self._paragraph(lines, at, depth)

    def _starts_block(self, line: TextLine) -> bool:
        """Whether this line ends a paragraph directly above it."""
        content = self._content(line)
        if line.indent >= CODE_INDENT:
            return False
        if content[0] in "#`~>" and (_HEADING.match(content) or _QUOTE.match(content) or self._fence(line)):
            return True
        if (item := _ITEM.match(content)) and item.end() < len(content):
            return item["number"] in (None, "1")
        return bool(_RULE.match(content))

    # Code ----------------------------------------------------------------------------------------------------

    def _fence(self, line: TextLine) -> str:
        """The fence that this line opens, or ""."""
        if line.indent >= CODE_INDENT or line.is_blank or self.text[line.first] not in "`~":
            return ""
        match = _FENCE.match(self.text, line.first, line.end)
        return (match["ticks"] or match["tildes"]) if match else ""

    def _closes(self, line: TextLine, fence: str) -> bool:
        content = self._content(line)
        return line.indent < CODE_INDENT and len(content) >= len(fence) and not content.strip(fence[0])

    def _fenced(self, lines: Sequence[TextLine], at: int, fence: str) -> tuple[Node, int]:
        opening = lines[at]
        closing = next((i for i in range(at + 1, len(lines)) if self._closes(lines[i], fence)), None)
        body = [self._without(line, opening.indent) for line in lines[at + 1 : closing]]
        if closing is None:
            while body and body[-1].is_blank:
                body.pop()
        end = None if closing is None else lines[closing]
        info = self._content(opening)[len(fence) :].strip()
        return self._code(opening, body, info, end), len(lines) if closing is None else closing + 1

    def _cut_in_code(self, lines: Sequence[TextLine]) -> tuple[int, int] | None:
        """A text that was cut out of the middle of some code: the first line of code, and the fence that ends it.

        The fences of such a text do not pair up. What precedes the first fence and follows the last distinguishes it
        from a text whose last code block is cut off at the end.
        """
        opened: tuple[int, str] | None = None
        first = None
        for at, line in enumerate(lines):
            fence = self._fence(line)
            if opened is None and fence:
                first = at if first is None else first
                opened = at, fence
            elif opened is not None and fence and self._closes(line, opened[1]):
                opened = None
        if first is None or opened is None:
            return None
        is_bare = all(self._content(lines[at]).strip("`~") == "" for at in (first, opened[0]))
        before, behind = self._filled_lines(lines[:first]), self._filled_lines(lines[opened[0] + 1 :])
        if not is_bare or not before or self._code_share(before) <= self._code_share(behind):
            return None
        start = next(at for at, line in enumerate(lines) if not line.is_blank)
        return start, first

    def _filled_lines(self, lines: Sequence[TextLine]) -> list[TextLine]:
        return [line for line in lines if not line.is_blank]

    def _code_share(self, lines: Sequence[TextLine]) -> float:
        hits = sum(
            line.end - line.first <= LONGEST_CODE and bool(_CODE_LINE.match(self.text, line.first, line.end))
            for line in lines
        )
        return hits / len(lines) if lines else 0.0

    def _is_code(self, run: Sequence[TextLine]) -> bool:
        """Whether lines without a mark of code are code all the same. Comments do not count either way."""
        if _PROMPT.match(self.text, run[0].first, run[0].end):
            return True
        head = self._content(run[0])
        if head[0] == "|" or _ITEM.match(head) or _QUOTE.match(head) or any(self._fence(line) for line in run):
            return False
        relevant = [line for line in run if self.text[line.first] != "#" and not self._content(line).endswith(",")]
        return len(relevant) >= 2 and self._code_share(relevant) >= CODE_SHARE

    def _indented(self, lines: Sequence[TextLine], at: int, depth: int) -> tuple[Node, int]:
        """Indented lines and the blank ones between them, up to those directly followed by plain lines."""
        stop = at
        for place in range(at, len(lines)):
            if lines[place].is_blank:
                continue
            is_last = place + 1 == len(lines) or lines[place + 1].is_blank or self._starts_block(lines[place + 1])
            if lines[place].indent < CODE_INDENT:
                break
            if is_last:
                stop = place + 1
        run = lines[at:stop]
        if not run or self._is_prose(self._filled_lines(run)):
            self._prose_until = run[-1].end if run else lines[at].end
            return self._paragraph(lines, at, depth)
        return self._code(run[0], [self._without(line, CODE_INDENT) for line in run]), stop

    def _is_prose(self, lines: Sequence[TextLine]) -> bool:
        """Whether indented lines are prose: filled ones, or one to a paragraph, and no sign of code in them."""
        if self._code_share(lines) > 1 - CODE_SHARE:
            return False
        is_long = any(line.end - line.first > LONG_PROSE for line in lines)
        words = "".join(self._content(line) for line in lines)
        is_worded = len(_WORDLIKE.findall(words)) >= 0.95 * len(words) and bool(_PROSE_END.search(words))
        return is_worded and (is_long or (len(lines) > 2 and self._is_filled(lines)))

    def _code(
        self, opening: TextLine, body: Sequence[TextLine], info: str | None = None, closing: TextLine | None = None
    ) -> Node:
        """Code unchanged, line for line; fences, and the prefixes of a list or quotation, are signs."""
        start = opening.first if info is not None or not body else body[0].start
        runs: list[Run] = []
        at = start
        for place, line in enumerate(body, 1):
            if at < line.start:
                runs.append(Run(at, line.start, True))
            at = max(at, line.start)
            stop = line.end if place == len(body) else self._line_end(line)
            if at < stop:
                follows = runs and not runs[-1].is_sign
                runs.append(Run(runs.pop().start if follows else at, stop))
            at = max(at, stop)
        end = closing.end if closing else max(at, opening.end if info is not None else at)
        if at < end:
            runs.append(Run(at, end, True))
        language = _LANGUAGE.match(info or "")
        name = f"Code, {language.group()}" if language else "Code"
        is_wide = any(line.end - line.start > SCROLLS_FROM for line in body)
        scrolls = f' class="scroll" tabindex="0" role="region" aria-label="{name}"' if is_wide else ""
        return self._leaf("pre", start, end, list(runs), scrolls)

    def _line_end(self, line: TextLine) -> int:
        """The offset after this line and its line break."""
        found = self.text.find("\n", line.end)
        return len(self.text) if found < 0 else found + 1

    # Headings, quotations and lists --------------------------------------------------------------------------

    def _heading(self, line: TextLine, start: int) -> Node:
        words = self.text[start : line.end]
        bare = words.rstrip("#")
        if not bare or bare[-1] in " \t":
            words = bare.rstrip()
        node = self._words("h3", start, start + len(words))
        self._close(line.end)
        return node

    def _quotation(self, lines: Sequence[TextLine], at: int, depth: int) -> tuple[Node | None, int]:
        inner = []
        while at < len(lines) and not lines[at].is_blank and lines[at].indent < CODE_INDENT:
            sign = _QUOTE.match(self.text, lines[at].first, lines[at].end)
            if not sign:
                break
            inner.append(self._line(sign.end(), lines[at].end))
            at += 1
        children = self._blocks(inner, depth + 1)
        if children:
            self._close(inner[-1].end)
        return (Node("blockquote", children=children) if children else None), at

    def _list(self, lines: Sequence[TextLine], at: int, depth: int) -> tuple[Node, int]:
        is_ordered = bool(self._item(lines[at])["number"])
        outer = lines[at].indent
        items: list[Node] = []
        expected, first_number = 0, 0
        while at < len(lines):
            item = self._item_match(lines[at])
            if item is None or bool(item["number"]) != is_ordered or lines[at].indent >= outer + 2:
                break
            inner, at = self._item_lines(lines, at, item, outer)
            number = int(item["number"] or 0)
            attributes = f' value="{number}"' if is_ordered and items and number != expected else ""
            first_number = number if not items else first_number
            expected = number + 1
            items.append(self._list_item(inner, depth, attributes))
            while at < len(lines) and lines[at].is_blank and at + 1 < len(lines):
                at += 1
        start = f' start="{first_number}"' if is_ordered and first_number != 1 else ""
        return Node("ol" if is_ordered else "ul", start, items), at

    def _item(self, line: TextLine) -> re.Match[str]:
        match = _ITEM.match(self.text, line.first, line.end)
        assert match is not None
        return match

    def _item_match(self, line: TextLine) -> re.Match[str] | None:
        if line.is_blank or line.indent >= CODE_INDENT + 2 or _RULE.match(self._content(line)):
            return None
        return _ITEM.match(self.text, line.first, line.end)

    def _item_lines(
        self, lines: Sequence[TextLine], at: int, item: re.Match[str], outer: int
    ) -> tuple[list[TextLine], int]:
        """The lines of one item without its sign and its indentation, and the index of the next line."""
        first = self._line(item.end(), lines[at].end)
        width = item.end() - item.start() + (first.indent if 0 < first.indent <= CODE_INDENT else 1)
        inner = [self._without(first, first.indent if first.indent <= CODE_INDENT else 1)]
        enough = min(lines[at].indent + width, outer + 2)
        at += 1
        last = at
        while at < len(lines):
            line = lines[at]
            if not line.is_blank:
                is_inside = line.indent >= enough
                is_lazy = not lines[at - 1].is_blank and not self._starts_block(line) and not self._item_match(line)
                if not is_inside and not is_lazy:
                    break
                last = at + 1
            inner.append(self._without(line, outer + width))
            at += 1
        return inner[: len(inner) - (at - last)], last

    def _list_item(self, inner: list[TextLine], depth: int, attributes: str) -> Node:
        if not any(not line.is_blank for line in inner):
            end = inner[0].first
            return self._leaf("li", end, end, [], attributes)
        children = self._blocks(inner, depth + 1)
        if len(children) == 1 and children[0].tag == "p" and children[0].pieces is not None:
            only = children[0]
            only.tag = "li"
            only.attributes = attributes + only.attributes
            return only
        return Node("li", attributes, children)

    # Paragraphs and tables -----------------------------------------------------------------------------------

    def _paragraph(self, lines: Sequence[TextLine], at: int, depth: int) -> tuple[Node, int]:
        stop = at + 1
        while stop < len(lines) and not lines[stop].is_blank and not self._starts_block(lines[stop]):
            if self._is_rule_row(lines, stop + 1) and "|" in self._content(lines[stop]):
                break
            if stop == at + 1 and self._underline(lines[stop]):
                break
            stop += 1
        run = lines[at:stop]
        if len(run) > 1 and self._is_table(run):
            return self._table(run), stop
        if stop < len(lines) and len(run) == 1 and (under := self._underline(lines[stop])):
            node = self._words("h3", run[0].first, run[0].end)
            self._close(under)
            return node, stop + 1
        return self._prose(run, is_inner=depth > 0), stop

    def _underline(self, line: TextLine) -> int:
        """The end of a line that makes the one above it a heading (setext); 0 for any other line."""
        is_one = line.indent < CODE_INDENT and _UNDERLINE.match(self._content(line))
        return line.end if is_one else 0

    def _prose(self, run: Sequence[TextLine], *, is_inner: bool) -> Node:
        keeps_lines = len(run) > 1 and not self._is_filled(run) and not (is_inner and self._all_continue(run))
        start = run[0].start if keeps_lines and self._unread(run[0].start) == run[0].start else run[0].first
        prefixes: list[Span] = []
        breaks: list[int] = []
        for line, following in pairwise(run):
            feed = self.text.find("\n", line.end)
            if feed + 1 < following.start:
                prefixes.append((feed + 1, following.start))
            is_broken = self.text[line.end - 1] == "\\"
            if is_broken:
                prefixes.append((line.end - 1, line.end))
            is_indented = following.indent > max(1, line.indent) and bool(_PROSE_END.search(self._content(line)))
            if not keeps_lines and (is_broken or is_indented or self.text[line.end : feed].startswith("  ")):
                breaks.append(feed)
        pieces = inline.pieces(self.text, start, run[-1].end, labels=self.labels, prefixes=prefixes, breaks=breaks)
        return self._leaf("p", start, run[-1].end, pieces, ' class="fixed-lines"' if keeps_lines else "")

    def _is_filled(self, run: Sequence[TextLine]) -> bool:
        """Whether these lines are prose that was broken to fit a width, so that its line breaks mean nothing.

        Such lines begin in the middle of a sentence, or none of them had room for the next word.
        """
        widths = [line.end - line.first for line in run]
        widest = max(widths)
        running = filled = 0
        for following, width in zip(run[1:], widths, strict=False):
            word = len(self._content(following).split(maxsplit=1)[0])
            filled += width >= FILLED_FROM and width + 1 + word > widest - RAGGED
            running += following.indent == run[0].indent and self._continues_sentence(following)
        breaks = len(run) - 1
        if running and filled >= FILLED_SHARE * breaks:
            return True
        return running >= RUNNING_SHARE * breaks and sum(widths) >= FEWEST * len(run)

    def _continues_sentence(self, line: TextLine) -> bool:
        """Whether this line begins in the middle of a sentence."""
        content = self._content(line)
        is_lower = content.lstrip(_OPENING)[:1].islower() and not _SETTING.match(content)
        return is_lower and content.count(" ") > 1 and not _CODE_LINE.match(content, 0, LONGEST_CODE)

    def _all_continue(self, run: Sequence[TextLine]) -> bool:
        """Whether every line continues the sentence of the one before: how list items are wrapped."""
        return all(
            content.lstrip(_OPENING)[:1].islower() and not _SETTING.match(content)
            for content in map(self._content, run[1:])
        )

    def _is_rule_row(self, lines: Sequence[TextLine], at: int) -> bool:
        if at >= len(lines) or lines[at].is_blank or self.text[lines[at].first] not in "|:-":
            return False
        content = self._content(lines[at])
        return "-" in content and not content.strip(_RULE_ROW) and ("|" in content or "---" in content)

    def _is_table(self, run: Sequence[TextLine]) -> bool:
        rows = [self._content(line) for line in run]
        if "|" in rows[0] and self._is_rule_row(run, 1):
            return "|" in rows[1] or len(run) > 2
        if all(row.count("|") >= 2 for row in rows):
            return all(row[0] == "|" for row in rows) or len({row.count("|") for row in rows}) == 1
        return all("\t" in row for row in rows) and not any(line.indent for line in run)

    def _table(self, run: Sequence[TextLine]) -> Node:
        has_head = self._is_rule_row(run, 1)
        sign = "\t" if not has_head and not all("|" in self._content(line) for line in run) else "|"
        rows = []
        for number, line in enumerate(run):
            if has_head and number == 1:
                self._close(line.end)
                continue
            tag = "th" if has_head and number == 0 else "td"
            cells = [self._words(tag, start, end) for start, end in self._cells(line, sign)]
            self._close(line.end)
            rows.append(Node("tr", children=cells))
        head = [Node("thead", children=[rows.pop(0)])] if has_head and len(rows) > 1 else []
        table = Node("table", children=[*head, Node("tbody", children=rows)])
        return Node("div", ' class="scroll" tabindex="0" role="region" aria-label="Table"', [table])

    def _cells(self, line: TextLine, sign: str) -> Iterator[Span]:
        """The span of each cell's text. A pipe after a backslash is no edge."""
        edges = [line.first - 1] if self.text[line.first] != sign else []
        edges += [
            at
            for at in range(line.first, line.end)
            if self.text[at] == sign and (at == line.first or self.text[at - 1] != "\\")
        ]
        if self.text[line.end - 1] != sign or len(edges) == 1:
            edges.append(line.end)
        for left, right in pairwise(edges):
            raw = self.text[left + 1 : right]
            start = left + 1 + len(raw) - len(raw.lstrip())
            yield start, max(start, start + len(raw.strip()))


def _until_blank(lines: Sequence[TextLine], at: int) -> list[TextLine]:
    places = takewhile(lambda place: not lines[place].is_blank, range(at, len(lines)))
    return [lines[place] for place in places]
