"""The place of evidence in a block's text. Offsets are code points, ends exclusive."""

import re
from collections.abc import Sequence
from itertools import takewhile

Span = tuple[int, int]
SURROUNDINGS = 200


def spans_of(text: str, quotes: Sequence[str]) -> list[Span | None]:
    """The first place of each pasted quote in `text`, all white space being equal; None where it is not in it."""
    spans: list[Span | None] = []
    for quote in quotes:
        parts = [re.escape(part) for part in quote.split()]
        match = re.search(r"\s+".join(parts), text) if parts else None
        spans.append(match.span() if match else None)
    return spans


def placed(old_text: str, spans: Sequence[Span], new_text: str) -> list[Span | None]:
    """The place in `new_text` of each passage of `old_text`; None for one that is no longer in it.

    Where a passage occurs more than once, the place with the most of its old context.
    """
    matches: list[Span | None] = []
    for start, end in spans:
        parts = [re.escape(part) for part in old_text[start:end].split()]
        places = [match.span() for match in re.finditer(r"\s+".join(parts), new_text)] if parts else []
        around = (old_text[:start], old_text[end:])
        matches.append(max(places, key=lambda place: _shared(around, new_text, place), default=None))
    return matches


def _shared(around: tuple[str, str], text: str, place: Span) -> int:
    """How many characters directly before and after `place` are those of `around`."""
    before, behind = around[0][::-1], around[1]
    return _common(before, text[: place[0]][::-1]) + _common(behind, text[place[1] :])


def _common(one: str, other: str) -> int:
    alike = takewhile(lambda pair: pair[0] == pair[1], zip(one[:SURROUNDINGS], other[:SURROUNDINGS], strict=False))
    return sum(1 for _ in alike)


def moved(old_text: str, spans: Sequence[Span], new_text: str) -> list[Span]:
    """The spans of `old_text` at their places in `new_text`; those that are no longer in it are left out."""
    return [span for span in placed(old_text, spans, new_text) if span is not None]


def quoted(text: str, spans: Sequence[Span]) -> str:
    """The marked passages, one per line, in the order of the text."""
    return "\n".join(text[start:end] for start, end in sorted(spans))
