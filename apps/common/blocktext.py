"""The plain text of a block as safe HTML, with evidence lit.

Every element that holds text carries `data-at`, the code-point offset of its first character in the pinned
text, and holds exactly that slice of it: a script can turn a selection into offsets without guessing.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

Span = tuple[int, int]

_PARAGRAPH = re.compile(r"(?:[^\n]*\S[^\n]*(?:\n|$))+")
_BULLET = re.compile(r"[ \t]*[-*•–][ \t]+")
_NUMBERED = re.compile(r"[ \t]*\d{1,3}[.)][ \t]+")
_HEADING = re.compile(r"#{1,6}[ \t]+")
_RULE_ROW = re.compile(r"[\s|:+-]+")


class _Line(NamedTuple):
    start: int
    end: int


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
) -> SafeString:
    """Paragraphs, lists, headings and pipe tables of `text`; `spans` lit, paragraphs that meet `best` marked.

    `removed` and `added` are shown as a word difference inside of that. Offsets are code points into `text`, ends
    exclusive. Markup in the text is shown, never obeyed.
    """
    size = len(text)
    painter = _Painter(
        text, best, [("mark", merge(spans, size)), ("del", merge(removed, size)), ("ins", merge(added, size))]
    )
    return mark_safe("".join(painter.parts()))  # every slice of text went through escape()


class _Painter:
    def __init__(self, text: str, best: Span | None, layers: Sequence[tuple[str, Sequence[Span]]]) -> None:
        self.text = text
        self.best = best
        self.layers = [(tag, spans) for tag, spans in layers if spans]

    def parts(self) -> Iterator[str]:
        for match in _PARAGRAPH.finditer(self.text):
            yield self._part(_lines(self.text, match.start(), match.end()))

    def _part(self, lines: list[_Line]) -> str:
        texts = [self.text[line.start : line.end] for line in lines]
        if len(lines) > 1 and all(row.count("|") >= 2 or "\t" in row for row in texts):
            return self._table(lines)
        for pattern, tag in ((_BULLET, "ul"), (_NUMBERED, "ol")):
            if pattern.match(texts[0]) and (len(lines) == 1 or pattern.match(texts[1])):
                return self._list(lines, pattern, tag)
        if len(lines) == 1 and (heading := _HEADING.match(texts[0])):
            return self._leaf("h3", lines[0].start + heading.end(), lines[0].end)
        return self._leaf("p", lines[0].start, lines[-1].end)

    def _list(self, lines: list[_Line], marker: re.Pattern[str], tag: str) -> str:
        items: list[Span] = []
        for line in lines:
            match = marker.match(self.text, line.start, line.end)
            if match:
                items.append((match.end(), line.end))
            else:
                items[-1] = (items[-1][0], line.end)
        inner = "".join(self._leaf("li", start, end) for start, end in items)
        return f"<{tag}>{inner}</{tag}>"

    def _table(self, lines: list[_Line]) -> str:
        rows: list[str] = []
        has_head = len(lines) > 1 and bool(_RULE_ROW.fullmatch(self.text[lines[1].start : lines[1].end]))
        for line in lines:
            if _RULE_ROW.fullmatch(self.text[line.start : line.end]):
                continue
            tag = "th" if has_head and not rows else "td"
            cells = "".join(self._leaf(tag, *cell) for cell in self._cells(line))
            rows.append(f"<tr>{cells}</tr>")
        head = f"<thead>{rows.pop(0)}</thead>" if has_head and rows else ""
        table = f"<table>{head}<tbody>{''.join(rows)}</tbody></table>"
        return f'<div class="scroll" tabindex="0" role="region" aria-label="Table">{table}</div>'

    def _cells(self, line: _Line) -> Iterator[Span]:
        mark = "|" if self.text.count("|", line.start, line.end) >= 2 else "\t"
        edges = [line.start - 1] if self.text[line.start] != mark else []
        edges += [at for at in range(line.start, line.end) if self.text[at] == mark]
        if self.text[line.end - 1] != mark:
            edges.append(line.end)
        for left, right in pairwise(edges):
            raw = self.text[left + 1 : right]
            start = left + 1 + len(raw) - len(raw.lstrip())
            yield start, max(start, start + len(raw.strip()))

    def _leaf(self, tag: str, start: int, end: int) -> str:
        is_best = tag in {"p", "li"} and self.best and start < self.best[1] and self.best[0] < end
        css = ' class="best"' if is_best else ""
        return f'<{tag}{css} data-at="{start}">{self._slice(start, end)}</{tag}>'

    def _slice(self, start: int, end: int, depth: int = 0) -> str:
        """The escaped text from `start` to `end`, each layer's marks around those of the layers after it."""
        if depth == len(self.layers):
            return escape(self.text[start:end])
        tag, spans = self.layers[depth]
        out: list[str] = []
        at = start
        for left, right in spans:
            left, right = max(left, start), min(right, end)
            if left >= right:
                continue
            out.append(self._slice(at, left, depth + 1))
            out.append(f"<{tag}>{self._slice(left, right, depth + 1)}</{tag}>")
            at = right
        out.append(self._slice(at, end, depth + 1))
        return "".join(out)


def _lines(text: str, start: int, end: int) -> list[_Line]:
    """The lines of text[start:end], ends trimmed of white space, starts trimmed of indentation."""
    lines = []
    while start < end:
        stop = text.find("\n", start, end)
        stop = end if stop < 0 else stop
        raw = text[start:stop]
        first = start + len(raw) - len(raw.lstrip())
        lines.append(_Line(first, first + len(raw.strip())))
        start = stop + 1
    return lines
