"""A person's answer for a pair, with the marked parts of the text as its evidence."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

MOST_SPANS = 20


class Span(NamedTuple):
    """A marked part of a text: start included, end not."""

    start: int
    end: int


def spans_refusal(spans: Any, text: str) -> str | None:
    """Why these spans can't be evidence in this text, or None when they can.

    Spans are mappings or pairs with whole-number `start` and `end`, in order and not overlapping, each over at least
    one character that is not blank.
    """
    try:
        parsed = parse_spans(spans)
    except (TypeError, ValueError, KeyError, IndexError):
        return "Evidence is a list of spans, each with a start and an end."
    if len(parsed) > MOST_SPANS:
        return f"At most {MOST_SPANS} spans of evidence fit one judgement."
    floor = 0
    for start, end in parsed:
        if not (0 <= start < end <= len(text)):
            return f"Evidence from {start} to {end} is outside the text, which ends at {len(text)}."
        if start < floor:
            return "Spans of evidence are listed in order and do not overlap."
        if not text[start:end].strip():
            return f"Evidence from {start} to {end} is blank."
        floor = end
    return None


def parse_spans(spans: Any) -> list[Span]:
    """Turn mappings or pairs into spans. Raises TypeError, ValueError or KeyError for anything else."""
    if not isinstance(spans, (list, tuple)):
        raise TypeError("not a list")
    return [_parse(span) for span in spans]


def _parse(span: Any) -> Span:
    start, end = (span["start"], span["end"]) if isinstance(span, dict) else span
    if any(isinstance(value, bool) or not isinstance(value, int) for value in (start, end)):
        raise TypeError("not a whole number")
    return Span(start, end)


def stored(spans: Iterable[Span]) -> list[list[int]]:
    """Spans as they are stored and sent: [start, end]."""
    return [[start, end] for start, end in spans]


@dataclass(frozen=True, slots=True)
class Answer:
    """A person's answer for a pair: a grade, or a reason why it can't be judged.

    Without `is_again` it is their first answer for the pair, and refused when they have graded it already.
    """

    grade: int | None = None
    cant_judge: str = ""
    note: str = ""
    spans: Any = field(default_factory=list)
    active_ms: int | None = None
    away_ms: int | None = None
    is_again: bool = True


MOST_TIME_MS = 7 * 24 * 3_600_000
"""The longest time that a client may report, a week."""
LONGEST_TIME_MS = 2_000_000_000
"""The longest time that is stored."""


def milliseconds(value: int | None) -> int | None:
    """A time as it is stored: within what the column holds, whatever a browser's clock said."""
    return None if value is None else max(0, min(value, LONGEST_TIME_MS))
