"""SVG charts of the page of slices: order kept, interval width, balance and rotation. No Django."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from apps.common.drawing.svg import DrawnEstimate, Scale, clip, drawing, plain, scale, tag, text, ticks, title, whisker
from apps.common.text.wording import number
from apps.evaluation.core.slice_signal import SliceSignal
from apps.goldsets.core.rotation import LEFT, NEXT, NOW, USED, Balance, Turn

TAU_WIDTH, WIDTH_WIDTH, HEIGHT = 200, 120, 24
ROW, GAP, NAMES, BARS, COUNTS, WHOLE = 24, 10, 84.0, 196.0, 480.0, 592.0
MOST_KINDS = 8
LETTERS = 16
FILLS = {USED: "part-review", NOW: "part-disputed", NEXT: "part-dropped", LEFT: "part-dropped"}


def tau_head(low: float) -> str:
    place = scale(low, 1, 8, TAU_WIDTH - 8)
    marks = [text(place(value), 11, plain(value), anchor="middle") for value in _marks(low)]
    return drawing(TAU_WIDTH, 14, "Axis", marks)


def _marks(low: float) -> list[float]:
    return [-1.0, 0.0, 1.0] if low < 0 else [0.0, 0.5, 1.0]


def tau_cell(name: str, signal: SliceSignal, low: float) -> str:
    """The order kept, with its interval, on the scale of all rows."""
    place = scale(low, 1, 8, TAU_WIDTH - 8)
    grid = "".join(f"M{place(value):.1f} -20V44" for value in _marks(low))
    low_end, high_end = signal.interval or (None, None)
    row = DrawnEstimate(name, signal.tau, low_end, high_end, signal.n, "rank correlation")
    parts = [tag("path", class_="grid", d=grid), *([whisker(row, place, 12)] if signal.tau is not None else [])]
    return drawing(TAU_WIDTH, HEIGHT, f"{row.words}, {signal.runs} runs", parts)


def width_cell(name: str, width: float, full: float, widest: float) -> str:
    """The width of an interval in points, with that of the full set as a line."""
    place = scale(0, max(widest, full), 0, WIDTH_WIDTH - 4)
    words = f"{name}: interval {number(width, 1)} points wide; the full set’s is {number(full, 1)}"
    bar = tag("rect", class_="bar-fill", x=0, y=8, width=place(width), height=8)
    return drawing(WIDTH_WIDTH, HEIGHT, words, [bar, tag("path", class_="target", d=f"M{place(full):.1f} 4v16")])


def balance_bars(rows: Sequence[Balance], words: dict[str, str]) -> str:
    """A bar for each kind, the full set's share as a line; of each field the most frequent kinds."""
    most = max([max(row.share, row.full_share) for row in rows], default=1.0)
    place = scale(0, max(most, 0.1), BARS, COUNTS)
    parts, y = [], 0.0
    for field, kinds in groupby(rows, key=lambda row: row.field):
        parts.append(text(0, y + 18, words[field], class_="strong"))
        for row in list(kinds)[:MOST_KINDS]:
            parts += _balance_row(row, place, y)
            y += ROW
        y += GAP
    values = ticks(0, max(most, 0.1) * 100, 4)
    parts.append(tag("path", class_="axis", d=f"M{BARS:.0f} {y:.1f}H{COUNTS:.0f}"))
    for at, value in enumerate(values):
        label = f"{value:g} %" if at == len(values) - 1 else f"{value:g}"
        parts.append(text(place(value / 100), y + 17, label, anchor="middle"))
    return drawing(WHOLE, y + 22, "Share of each kind in the slice; the line is its share in the full set", parts)


def _balance_row(row: Balance, place: Scale, y: float) -> list[str]:
    name = row.value or "none given"
    inside, overall = f"{100 * row.share:.0f} %", f"{100 * row.full_share:.0f} %"
    told = f"{name}: {row.inside} of {row.of_slice}, {inside}; full set {row.overall} of {row.of_all}, {overall}"
    bar = tag("rect", class_="bar-fill", x=BARS, y=y + 8, width=place(row.share) - BARS, height=12)
    line = tag("path", class_="target", d=f"M{place(row.full_share):.1f} {y + 4:.1f}v20")
    return [
        text(NAMES, y + 18, clip(name, LETTERS), class_="word"),
        tag("g", title(told) + bar + line),
        text(528, y + 18, str(row.inside), anchor="end", class_="strong"),
        text(WHOLE, y + 18, f"of {row.overall}", anchor="end"),
    ]


def rotation_bar(turns: Sequence[Turn], names: dict[str, str]) -> str:
    """The full set as one bar: used, now, next, left. A part without room for its words has them in its title."""
    total = sum(turn.questions for turn in turns) or 1
    parts, x = [], 0.0
    for turn in turns:
        size = WHOLE * turn.questions / total
        name = names.get(turn.quarter, turn.quarter) or "Later"
        told = title(f"{name}: {turn.questions} questions, {turn.state}")
        box = tag("rect", told, class_=FILLS[turn.state], x=x + 0.5, y=0.5, width=max(1.0, size - 3), height=15)
        parts.append(box)
        if size > 74:
            parts.append(text(x, 34, name, class_="strong" if turn.state == NOW else "word"))
            parts.append(text(x, 52, f"{turn.questions}, {turn.state}"))
        x += size
    words = ", ".join(f"{turn.questions} {turn.state}" for turn in turns)
    return drawing(WHOLE, 62, f"{total} questions by quarter: {words}", parts)
