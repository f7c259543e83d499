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
