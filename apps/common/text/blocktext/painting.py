"""Writes the elements of a text as HTML, with evidence and differences lit.

Every character of the text is in the page, in order: the text content of the HTML is the text, and every leaf has
`data-at`, the code-point offset of its first character. So a script turns a selection into offsets by counting.
Markdown's own signs are in `<i>`, which is not shown, not read aloud and not copied. Every element of the first level,
code apart, has the direction of its own letters: a list or a table as a whole, and style sheets do the rest inside.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

from apps.common.text.blocktext.blocks import parse
from apps.common.text.blocktext.inline import Node, Run, Span, lines_of


def paragraphs(text: str) -> list[Node]:
    """The elements of `text` in order, one for each run of lines that are not blank."""
    nodes = []
    for is_blank, lines in groupby(lines_of(text), key=lambda line: line.is_blank):
        if not is_blank:
            run = list(lines)
            start, end = run[0].start, run[-1].end
            nodes.append(Node("p", ' class="fixed-lines"', pieces=[Run(start, end)], start=start, end=end))
    return nodes


MARKS = ("mark", "u")
_BEST = {"p", "li", "pre"}
_LISTS = {"ul", "ol"}
_NUMBER = re.compile(r'(?:start|value)="(\d+)"')
_OWN_DIRECTION = ' dir="auto"'
_TAG = re.compile(r"<[^>]*>")
_BLANK = " \t\n\r\f"


def merge(spans: Iterable[Span], length: int) -> list[Span]:
    """Spans cut to the text, in order, overlapping and touching ones joined; empty ones left out."""
    merged: list[Span] = []
    for start, end in sorted((max(0, a), min(length, b)) for a, b in spans):
        if start >= end:
            continue
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def render(
    text: str,
    spans: Iterable[Span] = (),
    best: Span | None = None,
    *,
    removed: Iterable[Span] = (),
    added: Iterable[Span] = (),
    within: Iterable[Span] = (),
    others: Iterable[Span] = (),
    as_written: bool = False,
) -> SafeString:
    """The text as HTML, formatted as its author meant; `spans` are lit, paragraphs and code that overlap `best` marked.

    `others` are somebody else's spans, underlined. `removed` and `added` are shown as a word difference, with the signs
    that they touch. With `within` only the paragraphs, items and tables that overlap one of those spans are written. A
    text without markup is shown `as_written`. Offsets are code points into `text`, ends exclusive. HTML in the text is
    escaped.
    """
    size = len(text)
    layers = [
        ("mark", merge(spans, size)),
        ("u", merge(others, size)),
        ("del", merge(removed, size)),
        ("ins", merge(added, size)),
    ]
    painter = _Painter(text, best, layers, chosen(_parsed(text, as_written), merge(within, size)))
    return mark_safe(painter.paint())  # every slice of text went through _escaped()


def _parsed(text: str, as_written: bool) -> list[Node]:
    return paragraphs(text) if as_written else parse(text)


def quote(text: str, span: Span, *, as_written: bool = False) -> SafeString:
    """The marked words alone, with their formatting: code stays code."""
    spans = merge([span], len(text))
    return mark_safe(_Painter(text, None, [("mark", spans)], _parsed(text, as_written), only=spans).paint())


def difference(
    removed_and_added: Iterable[tuple[str, str]], *, as_written: bool = False, only_changed: bool = False
) -> SafeString:
    """A text with its deletions and insertions, from pieces of kind "same", "del" and "ins" (see `worddiff`).

    With `only_changed` only the paragraphs, items and tables that have one.
    """
    pieces = list(removed_and_added)
    spans: dict[str, list[Span]] = {"del": [], "ins": [], "same": []}
    at = 0
    for kind, words in pieces:
        spans[kind].append((at, at + len(words)))
        at += len(words)
    text = "".join(words for _, words in pieces)
    within = [*spans["del"], *spans["ins"]] if only_changed else []
    return render(text, removed=spans["del"], added=spans["ins"], within=within, as_written=as_written)


def is_cut(text: str, spans: Iterable[Span], *, as_written: bool = False) -> bool:
    """Whether `render` with these spans as `within` leaves out something of the text."""
    nodes = _parsed(text, as_written)
    return len(list(_runs(chosen(nodes, merge(spans, len(text)))))) < len(list(_runs(nodes)))


def chosen(nodes: list[Node], spans: list[Span]) -> list[Node]:
    """The elements that overlap one of the spans; of lists only such items. All elements when there are none."""
    overlapping: list[Node] = []
    for node in nodes if spans else ():
        if node.tag in _LISTS:
            first = int(_NUMBER.search(node.attributes)[1]) if "start" in node.attributes else 1  # type: ignore[index]
            items = _items(node, first, spans)
            overlapping += [Node(node.tag, "", items)] if items else []
        elif _meets(spans, *_extent(node)):
            overlapping.append(node)
    return overlapping or nodes


def _items(node: Node, number: int, spans: list[Span]) -> list[Node]:
    """The items that overlap a span, each with its number in the whole list."""
    overlapping = []
    for item in node.children:
        given = _NUMBER.search(item.attributes)
        number = int(given[1]) if given else number
        if _meets(spans, *_extent(item)):
            value = f' value="{number}"' if node.tag == "ol" and not given else ""
            overlapping.append(replace(item, attributes=value + item.attributes))
        number += 1
    return overlapping


def _extent(node: Node) -> Span:
    runs = list(_runs([node]))
    return (runs[0].start, runs[-1].end) if runs else (0, 0)


def plain(text: str, most: int | None = None) -> str:
    """The visible text in one line: without signs, any white space as one blank; at most `most` characters."""
    words = " ".join(" ".join(_shown(text, parse(text if most is None else text[: 4 * most + 200]))).split())
    return words if most is None or len(words) <= most else words[: most - 1].rstrip() + "…"


def _shown(text: str, nodes: Sequence[Node]) -> Iterator[str]:
    for node in nodes:
        if node.pieces is None:
            yield from _shown(text, node.children)
        else:
            yield "".join(
                text[piece.start : piece.end] for piece in node.pieces if isinstance(piece, Run) and not piece.is_sign
            )


def _escaped(text: str) -> str:
    """HTML of a text. A browser reads a bare carriage return as a line feed, and two of them as one."""
    return escape(text).replace("\r", "&#13;")


class _Painter:
    def __init__(
        self,
        text: str,
        best: Span | None,
        layers: Sequence[tuple[str, list[Span]]],
        nodes: list[Node],
        only: list[Span] | None = None,
    ) -> None:
        self.text = text
        self.best = best
        self.layers = [(tag, spans) for tag, spans in layers if spans]
        self.nodes = nodes
        self.only = only
        self.at = 0  # everything before it is written
        self.shown = self._shown_signs()

    def paint(self) -> str:
        body = "".join(self._node(node, "" if node.tag == "pre" else _OWN_DIRECTION) for node in self.nodes)
        return body + self._blank(len(self.text)) if self.only is None else body

    def _shown_signs(self) -> list[Span]:
        """The spans whose signs are shown: those in a difference, and marks that contain nothing but signs."""
        shown = [span for tag, spans in self.layers if tag not in MARKS for span in spans]
        for tag, spans in self.layers:
            if tag in MARKS:
                words = [run for run in _runs(self.nodes) if not run.is_sign]
                starts = [run.start for run in words]
                shown += [span for span in spans if not self._has_words(words, starts, span)]
        return merge(shown, len(self.text))

    def _has_words(self, words: list[Run], starts: list[int], span: Span) -> bool:
        at = max(0, bisect_right(starts, span[0]) - 1)
        while at < len(words) and words[at].start < span[1]:
            if self.text[max(words[at].start, span[0]) : min(words[at].end, span[1])].strip():
                return True
            at += 1
        return False

    def _node(self, node: Node, direction: str = "") -> str:
        if node.pieces is not None:
            return self._leaf(node, direction)
        inner = "".join(self._node(child) for child in node.children)
        if self.only is not None:
            return inner  # a quotation of one item needs no list around it
        css = self._table_css(node) if node.tag == "div" else node.attributes
        return f"<{node.tag}{css}{direction}>{inner}</{node.tag}>"

    def _table_css(self, node: Node) -> str:
        runs = list(_runs([node]))
        is_best = runs and self._is_best(runs[0].start, runs[-1].end)
        return node.attributes.replace('"scroll"', '"scroll best"') if is_best else node.attributes

    def _is_best(self, start: int, end: int) -> bool:
        return self.best is not None and start < self.best[1] and self.best[0] < end

    def _leaf(self, node: Node, direction: str) -> str:
        before = self._blank(node.start)
        self.at = node.end
        if self.only is not None:
            return self._quoted(node)
        attributes = node.attributes
        if node.tag in _BEST and self._is_best(node.start, node.end):
            classes = ' class="best'
            attributes = (
                attributes.replace(' class="', f"{classes} ") if " class=" in attributes else f'{classes}"{attributes}'
            )
        inner = "".join(piece if isinstance(piece, str) else self._run(piece) for piece in node.pieces or ())
        return f'{before}<{node.tag}{attributes}{direction} data-at="{node.start}">{inner}</{node.tag}>'

    def _quoted(self, node: Node) -> str:
        """The leaf with only the quoted words; "" without any."""
        if not _meets(self.only or [], node.start, node.end):
            return ""
        inner = "".join(piece if isinstance(piece, str) else self._run(piece) for piece in self._cut(node.pieces or []))
        tag = "pre" if node.tag == "pre" else "p"
        css = node.attributes if node.tag in ("pre", "p") else ""
        css += _OWN_DIRECTION if tag == "p" else ""
        return f"<{tag}{css}>{inner}</{tag}>" if _TAG.sub("", inner).strip() else ""

    def _cut(self, pieces: list[Run | str]) -> Iterator[Run | str]:
        for piece in pieces:
            if isinstance(piece, str):
                yield piece
                continue
            for start, end in self.only or ():
                if piece.start < end and start < piece.end:
                    yield Run(max(start, piece.start), min(end, piece.end), piece.is_sign)

    def _blank(self, end: int) -> str:
        """The white space between two leaves. What a browser would show as a line of its own is hidden."""
        blank = self.text[self.at : end]
        if blank.strip():  # what `chosen` left out
            return ""
        return _escaped(blank) if not blank.strip(_BLANK) else f"<i>{_escaped(blank)}</i>"

    def _run(self, run: Run) -> str:
        if not run.is_sign:
            return self._slice(run.start, run.end)
        css = ' class="visible-sign"' if _meets(self.shown, run.start, run.end) else ""
        return f"<i{css}>{self._slice(run.start, run.end)}</i>"

    def _slice(self, start: int, end: int, depth: int = 0) -> str:
        """The escaped text from `start` to `end`, each layer's marks around those of the layers after it."""
        if depth == len(self.layers):
            return _escaped(self.text[start:end])
        tag, spans = self.layers[depth]
        out: list[str] = []
        at = start
        for left, right in spans[max(0, bisect_right(spans, (start, -1)) - 1) :]:
            if left >= end:
                break
            left, right = max(left, start), min(right, end)
            if left >= right:
                continue
            out.append(self._slice(at, left, depth + 1))
            out.append(f"<{tag}>{self._slice(left, right, depth + 1)}</{tag}>")
            at = right
        out.append(self._slice(at, end, depth + 1))
        return "".join(out)


def _runs(nodes: Iterable[Node]) -> Iterator[Run]:
    for node in nodes:
        if node.pieces is None:
            yield from _runs(node.children)
        else:
            yield from (piece for piece in node.pieces if isinstance(piece, Run))


def _meets(spans: list[Span], start: int, end: int) -> bool:
    """Whether one of the spans (sorted, disjoint) overlaps start to end."""
    at = bisect_right(spans, (start, -1))
    return any(left < end and start < right for left, right in spans[max(0, at - 1) : at + 1])
