"""Sparklines: a small line of figures by week, the band of their usual range behind it, the last value at its end."""

from collections.abc import Sequence
from typing import NamedTuple

from django.utils.safestring import SafeString

from apps.common.drawing.charts import svg
from apps.common.drawing.svg import scale, tag, text, title

WIDTH, HEIGHT = 256.0, 72.0
LEFT, RIGHT, TOP, BOTTOM = 4.0, 202.0, 10.0, 62.0
THINNEST = 2.0


class Spot(NamedTuple):
    """One point: its position along the line from 0 to 1, its value, and the text of its title."""

    place: float
    value: float
    words: str


def spark(name: str, spots: Sequence[Spot], last: str, *, band: tuple[float, float] | None = None) -> SafeString:
    """The line through the spots, oldest first, at least one; `last` is the last value in words."""
    values = [spot.value for spot in spots] + list(band or ())
    low, high = min(values), max(values)
    if low == high:
        low, high = low - 1, high + 1
    up, along = scale(low, high, BOTTOM, TOP), scale(0, 1, LEFT, RIGHT)
    at = [(along(spot.place), up(spot.value)) for spot in spots]
    parts = []
    if band:
        tall = max(THINNEST, up(band[0]) - up(band[1]))
        words = title("usual range")
        parts.append(tag("rect", words, class_="band", x=0.0, y=up(band[1]), width=RIGHT + 6, height=tall))
    parts.append(tag("path", class_="line", d="M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in at)))
    for (x, y), spot in zip(at[:-1], spots[:-1], strict=True):
        parts.append(tag("circle", title(spot.words), class_="spot", cx=x, cy=y, r=5.0))
    x, y = at[-1]
    parts.append(tag("circle", title(spots[-1].words), class_="b", cx=x, cy=y, r=4.0))
    parts.append(text(x + 10, y + 4, last, class_="strong halo"))
    return svg(WIDTH, HEIGHT, name, parts)
