"""Own progress as ticks: one for each pair, or for several pairs when there are very many. Plain values."""

from typing import NamedTuple

MOST_TICKS = 240
WIDTH = 1200


class ProgressTick(NamedTuple):
    """One tick: its meaning, and its place in a drawing 1,200 wide and 10 high."""

    kind: str
    x: str
    y: int
    width: str
    height: int


def ticks(done: int, total: int) -> list[ProgressTick]:
    """The layout of `total` ticks, the first `done` tall, the next one full height. No ticks for a total of 0."""
    n = min(total, MOST_TICKS)
    if n == 0:
        return []
    filled = done if total <= MOST_TICKS else done * n // total
    step = WIDTH / n
    width = max(1.0, min(3.0, step / 4))
    rows = []
    for place in range(n):
        x = f"{place * step + (step - width) / 2:.1f}"
        if place < filled:
            rows.append(ProgressTick("done", x, 3, f"{width:.1f}", 7))
        elif place == filled:
            rows.append(ProgressTick("now", x, 0, f"{width + 1:.1f}", 10))
        else:
            rows.append(ProgressTick("todo", x, 6, f"{width:.1f}", 4))
    return rows
