"""Charts of reports: values with their intervals, one row a run, on one axis."""

from __future__ import annotations

from collections.abc import Sequence

from apps.common.svg import Estimate, Scale, axis, clip, drawing, scale, tag, text, ticks, title, whisker
from apps.common.wording import interval, number, signed

WIDTH = 880
NAMES_AT, LEFT, RIGHT = 190.0, 400.0, WIDTH - 150.0
ROW, GAP, TOP = 24.0, 10.0, 8.0
MOST_NAME = 28


def dots(name: str, rows: Sequence[Estimate], *, low: float = 0.0, high: float = 1.0, signs: bool = False) -> str:
    """Dot and whisker for each row. Rows of one measure stand together under its name.

    With `signs` the values are differences: the axis spans them and zero, zero is a line in ink, and a row whose
    interval holds zero has to be `open`. A row without a value says so in words.
    """
    if signs:
        low, high = _span(rows)
    place = scale(low, high, LEFT, RIGHT)
    parts, y, before = [], TOP, None
    for row in rows:
        if row.measure != before:
            y += GAP if before is not None else 0.0
            parts.append(text(0, y + 16, clip(row.measure, MOST_NAME), class_="strong"))
            before = row.measure
        parts += _row(row, place, y + 12, signs)
        y += ROW
    if signs:
        parts.insert(0, tag("path", class_="zero", d=f"M{place(0.0):.1f} {TOP:.0f}V{y + 4:.1f}"))
    parts += axis(place, ticks(low, high), LEFT, RIGHT, y + 4)
    return drawing(WIDTH, y + 28, name, parts)


def _span(rows: Sequence[Estimate]) -> tuple[float, float]:
    """From the lowest end to the highest, with zero and a little room."""
    ends = [end for row in rows for end in (row.low, row.value, row.high) if end is not None]
    low, high = min([0.0, *ends]), max([0.0, *ends])
    room = max(0.01, (high - low) * 0.06)
    return low - room, high + room


def _row(row: Estimate, place: Scale, y: float, signs: bool) -> list[str]:
    parts = [text(NAMES_AT, y + 4, clip(row.label, MOST_NAME), class_="word")]
    if row.value is None:
        return [*parts, text(LEFT, y + 4, row.why or "not defined", class_="word")]
    mark = whisker(row, place, y, class_="open" if row.open else "point")
    written = signed(row.value) if signs else number(row.value)
    between = interval((row.low, row.high), 3, differences=signs)
    return [
        *parts,
        tag("g", title(f"{row.measure}, {row.label}: {written}, {between}, n {row.n:,}") + mark),
        text(RIGHT + 70, y + 4, written, anchor="end", class_="strong"),
        text(WIDTH, y + 4, f"n {row.n:,}", anchor="end"),
    ]
