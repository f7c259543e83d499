"""Paragraphs, code, lists, quotations, headings and tables of a text, parsed in linear time whatever it contains.

Texts are Markdown, plain text or pieces cut out of either, and for most nothing records which. So Markdown's signs
count where Markdown allows them, and all other line breaks are kept, except in prose that was filled to a width.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from apps.common.text.blocktext import inline
from apps.common.text.blocktext.inline import (
    CODE_INDENT,
    HEADING,
    ITEM,
    QUOTE,
    RULE,
    Node,
    Run,
    Span,
    TextLine,
    closes,
    fence_of,
    is_rule_row,
    is_table,
    item_of,
    lines_of,
    not_blank,
    starts_block,
    underline_of,
    until_blank,
)

FILLED_FROM = 40  # characters: nobody fills lines narrower than this
RAGGED = 14  # characters: filled lines may end this early although the next word would have fitted
FILLED_SHARE = 0.85
RUNNING_SHARE = 0.6
FEWEST = 30  # characters of a line on average: verses and lists of words are shorter
CODE_SHARE = 0.7
LONG_PROSE = 100
LONGEST_CODE = 160  # characters: longer lines are not code unless marked as code

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


def is_code(run: Sequence[TextLine]) -> bool:
    """Whether lines without a mark of code are code all the same. Comments do not count either way."""
    head = run[0]
    if head.match(_PROMPT):
        return True
    if head.content[0] == "|" or head.match(ITEM) or head.match(QUOTE) or any(fence_of(line) for line in run):
        return False
    relevant = [line for line in run if line.content[0] != "#" and not line.content.endswith(",")]
    return len(relevant) >= 2 and _code_share(relevant) >= CODE_SHARE


def is_prose(lines: Sequence[TextLine]) -> bool:
    """Whether indented lines are prose: filled ones, or one to a paragraph, and no sign of code in them."""
    if _code_share(lines) > 1 - CODE_SHARE:
        return False
    is_long = any(line.length > LONG_PROSE for line in lines)
    words = "".join(line.content for line in lines)
    is_worded = len(_WORDLIKE.findall(words)) >= 0.95 * len(words) and ends_sentence(words)
    return is_worded and (is_long or (len(lines) > 2 and is_filled(lines)))


def is_filled(run: Sequence[TextLine]) -> bool:
    """Whether these lines are prose that was broken to fit a width, so that its line breaks mean nothing.

    Such lines begin in the middle of a sentence, or none of them had room for the next word.
    """
    widths = [line.length for line in run]
    widest = max(widths)
    running = filled = 0
    for following, width in zip(run[1:], widths, strict=False):
        word = len(following.content.split(maxsplit=1)[0])
        filled += width >= FILLED_FROM and width + 1 + word > widest - RAGGED
        running += following.indent == run[0].indent and _continues_sentence(following.content)
    breaks = len(run) - 1
    if running and filled >= FILLED_SHARE * breaks:
        return True
    return running >= RUNNING_SHARE * breaks and sum(widths) >= FEWEST * len(run)


def all_continue(run: Sequence[TextLine]) -> bool:
    """Whether every line continues the sentence of the one before: how list items are wrapped."""
    return all(_is_in_sentence(line.content) for line in run[1:])


def ends_sentence(content: str) -> bool:
    return bool(_PROSE_END.search(content))


def code_before_fence(lines: Sequence[TextLine]) -> tuple[int, int] | None:
    """A text that was cut out of the middle of some code: the first line of code, and the fence that ends it.

    The fences of such a text do not pair up. What precedes the first fence and follows the last distinguishes it
    from a text whose last code block is cut off at the end.
    """
    opened: tuple[int, str] | None = None
    first = None
    for at, line in enumerate(lines):
        fence = fence_of(line)
        if opened is None and fence:
            first = at if first is None else first
            opened = at, fence
        elif opened is not None and fence and closes(line, opened[1]):
            opened = None
    if first is None or opened is None:
        return None
    is_bare = all(lines[at].content.strip("`~") == "" for at in (first, opened[0]))
    before, behind = not_blank(lines[:first]), not_blank(lines[opened[0] + 1 :])
    if not is_bare or not before or _code_share(before) <= _code_share(behind):
        return None
    start = next(at for at, line in enumerate(lines) if not line.is_blank)
    return start, first


def _code_share(lines: Sequence[TextLine]) -> float:
    hits = sum(line.length <= LONGEST_CODE and bool(line.match(_CODE_LINE)) for line in lines)
    return hits / len(lines) if lines else 0.0


def _continues_sentence(content: str) -> bool:
    """Whether a line begins in the middle of a sentence."""
    return _is_in_sentence(content) and content.count(" ") > 1 and not _CODE_LINE.match(content, 0, LONGEST_CODE)


def _is_in_sentence(content: str) -> bool:
    return content.lstrip(_OPENING)[:1].islower() and not _SETTING.match(content)


DEEPEST = 8
SCROLLS_FROM = 32  # characters of a line of code: fewer fit a phone in any font

_LANGUAGE = re.compile(r"[\w+#.-]{1,20}")


def parse(text: str) -> list[Node]:
    """The elements of `text` in order; every non-blank character of it is in exactly one leaf."""
    return _Parser(text).nodes()


class _Parser:
    """The text, its elements so far, and how far they reach."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.labels = inline.definitions(text)
        self._at = 0  # everything before it is in a leaf or is blank
        self._last: Node | None = None
        self._prose_until = 0  # indented lines before it are known to be prose

    def nodes(self) -> list[Node]:
        lines = list(lines_of(self.text))
        nodes: list[Node] = []
        if cut := code_before_fence(lines):
            start, closing = cut
            nodes.append(self._code(lines[start], lines[start:closing], closing=lines[closing]))
            lines = lines[closing + 1 :]
        nodes += self._blocks(lines, 0)
        rest = self._unread(len(self.text))
        if rest < len(self.text):
            nodes.append(self._leaf("p", rest, len(self.text.rstrip()), [Run(rest, len(self.text.rstrip()))]))
        return nodes

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
        if line.indent >= CODE_INDENT and line.start >= self._prose_until:
            return self._indented(lines, at, depth)
        if fence := fence_of(line):
            return self._fenced(lines, at, fence)
        if at == 0 or lines[at - 1].is_blank:
            run = until_blank(lines, at)
            if is_code(run):
                return self._code(line, run), at + len(run)
        if heading := line.match(HEADING):
            return self._heading(line, heading.end()), at + 1
        if line.match(RULE):
            rule: list[Run | str] = [Run(line.first, line.end, True)]
            return self._leaf("div", line.first, line.end, rule, ' class="rule" role="separator"'), at + 1
        if depth < DEEPEST:
            if line.match(QUOTE):
                return self._quotation(lines, at, depth)
            if line.match(ITEM):
                return self._list(lines, at, depth)
        return self._paragraph(lines, at, depth)

    # Code ----------------------------------------------------------------------------------------------------

    def _fenced(self, lines: Sequence[TextLine], at: int, fence: str) -> tuple[Node, int]:
        opening = lines[at]
        closing = next((i for i in range(at + 1, len(lines)) if closes(lines[i], fence)), None)
        body = [line.without(opening.indent) for line in lines[at + 1 : closing]]
        if closing is None:
            while body and body[-1].is_blank:
                body.pop()
        end = None if closing is None else lines[closing]
        info = opening.content[len(fence) :].strip()
        return self._code(opening, body, info, end), len(lines) if closing is None else closing + 1

    def _indented(self, lines: Sequence[TextLine], at: int, depth: int) -> tuple[Node, int]:
        """Indented lines and the blank ones between them, up to those directly followed by plain lines."""
        stop = at
        for place in range(at, len(lines)):
            if lines[place].is_blank:
                continue
            is_last = place + 1 == len(lines) or lines[place + 1].is_blank or starts_block(lines[place + 1])
            if lines[place].indent < CODE_INDENT:
                break
            if is_last:
                stop = place + 1
        run = lines[at:stop]
        if not run or is_prose(not_blank(run)):
            self._prose_until = run[-1].end if run else lines[at].end
            return self._paragraph(lines, at, depth)
        return self._code(run[0], [line.without(CODE_INDENT) for line in run]), stop

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
            stop = line.end if place == len(body) else line.after
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
            sign = lines[at].match(QUOTE)
            if not sign:
                break
            inner.append(lines[at].rest(sign.end()))
            at += 1
        children = self._blocks(inner, depth + 1)
        if children:
            self._close(inner[-1].end)
        return (Node("blockquote", children=children) if children else None), at

    def _list(self, lines: Sequence[TextLine], at: int, depth: int) -> tuple[Node, int]:
        item = item_of(lines[at])
        is_ordered = item is not None and bool(item["number"])
        outer = lines[at].indent
        items: list[Node] = []
        expected, first_number = 0, 0
        while at < len(lines):
            item = item_of(lines[at])
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

    def _item_lines(
        self, lines: Sequence[TextLine], at: int, item: re.Match[str], outer: int
    ) -> tuple[list[TextLine], int]:
        """The lines of one item without its sign and its indentation, and the index of the next line."""
        first = lines[at].rest(item.end())
        width = item.end() - item.start() + (first.indent if 0 < first.indent <= CODE_INDENT else 1)
        inner = [first.without(first.indent if first.indent <= CODE_INDENT else 1)]
        enough = min(lines[at].indent + width, outer + 2)
        at += 1
        last = at
        while at < len(lines):
            line = lines[at]
            if not line.is_blank:
                is_inside = line.indent >= enough
                is_lazy = not lines[at - 1].is_blank and not starts_block(line) and not item_of(line)
                if not is_inside and not is_lazy:
                    break
                last = at + 1
            inner.append(line.without(outer + width))
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
        while stop < len(lines) and not lines[stop].is_blank and not starts_block(lines[stop]):
            if is_rule_row(lines, stop + 1) and "|" in lines[stop].content:
                break
            if stop == at + 1 and underline_of(lines[stop]):
                break
            stop += 1
        run = lines[at:stop]
        if len(run) > 1 and is_table(run):
            return self._table(run), stop
        if stop < len(lines) and len(run) == 1 and (under := underline_of(lines[stop])):
            node = self._words("h3", run[0].first, run[0].end)
            self._close(under)
            return node, stop + 1
        return self._prose(run, is_inner=depth > 0), stop

    def _prose(self, run: Sequence[TextLine], *, is_inner: bool) -> Node:
        keeps_lines = len(run) > 1 and not is_filled(run) and not (is_inner and all_continue(run))
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
            is_indented = following.indent > max(1, line.indent) and ends_sentence(line.content)
            if not keeps_lines and (is_broken or is_indented or self.text[line.end : feed].startswith("  ")):
                breaks.append(feed)
        pieces = inline.pieces(self.text, start, run[-1].end, labels=self.labels, prefixes=prefixes, breaks=breaks)
        return self._leaf("p", start, run[-1].end, pieces, ' class="fixed-lines"' if keeps_lines else "")

    def _table(self, run: Sequence[TextLine]) -> Node:
        has_head = is_rule_row(run, 1)
        sign = "\t" if not has_head and not all("|" in line.content for line in run) else "|"
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
