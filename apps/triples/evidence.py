"""Where evidence lies in a block's text. Offsets are code points, ends exclusive."""

import re
from collections.abc import Sequence

Span = tuple[int, int]


def spans_of(text: str, quotes: Sequence[str]) -> list[Span | None]:
    """Where each pasted quote first lies in `text`, white space of any kind counting alike; None when nowhere."""
    found: list[Span | None] = []
    for quote in quotes:
        parts = [re.escape(part) for part in quote.split()]
        match = re.search(r"\s+".join(parts), text) if parts else None
        found.append(match.span() if match else None)
    return found


def moved(old_text: str, spans: Sequence[Span], new_text: str) -> list[Span]:
    """The spans of `old_text` at the place where `new_text` says the same; what it no longer says is left out."""
    found = spans_of(new_text, [old_text[start:end] for start, end in spans])
    return [span for span in found if span is not None]


def quoted(text: str, spans: Sequence[Span]) -> str:
    """The marked passages, one a line, in the order of the text."""
    return "\n".join(text[start:end] for start, end in sorted(spans))


def excerpt(text: str, spans: Sequence[Span]) -> tuple[str, list[Span]]:
    """The paragraphs of `text` that hold marks, and the marks in them. Without marks: the whole text."""
    kept: list[tuple[str, list[Span]]] = []
    at = 0
    for paragraph in re.split(r"(\n\s*\n)", text):
        end = at + len(paragraph)
        inside = [(max(a, at) - at, min(b, end) - at) for a, b in spans if a < end and b > at]
        if inside and paragraph.strip():
            kept.append((paragraph, inside))
        at = end
    if not kept:
        return text, [(a, b) for a, b in spans]
    joined, moved_spans = "", []
    for paragraph, inside in kept:
        joined += "\n\n" if joined else ""
        moved_spans += [(len(joined) + a, len(joined) + b) for a, b in inside]
        joined += paragraph
    return joined, moved_spans
